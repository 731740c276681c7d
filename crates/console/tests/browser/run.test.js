// Three sites and their browsers, from the draft to a release, and what people see when a site refuses, is away or is
// killed.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { askedIn, launch, Person } from "./browser.js";
import { PLANTED, SITES, World, hasSql, hedgerow } from "./world.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

// The officer of every site, and the steward of the first.
async function people(world) {
  const officers = {};
  for (const site of SITES) {
    officers[site] = await (await Person.arrive(browser, world.consoles.get(site), "otto")).signIn();
  }
  const steward = await askedIn(browser, officers.north, "stella", "steward");
  return { officers, steward };
}

// The steward starts a run from the page, and is led to the page of the run, which may not have begun.
async function starts(steward, run) {
  await steward.page.goto("/runs");
  await steward.sees(`Run ${run} is due`);
  await steward.page.getByRole("button", { name: "Start it" }).click();
  await steward.page.waitForURL(`**/runs/${run}`);
}

// Somebody finds a run on the first page, which nobody reloads.
async function finds(person, run) {
  await person.page.goto("/");
  await person.page.getByRole("link", { name: `Run ${run}`, exact: true }).first().click();
  await person.page.waitForURL(`**/runs/${run}`);
}

async function within(world, test) {
  try {
    await test();
  } catch (error) {
    for (const site of SITES) console.error(site, world.log(site).split("\n").slice(-12).join("\n"));
    throw error;
  } finally {
    await world.close();
  }
}

// A release is asked in SQL, where there is a program that answers; otherwise the page says what is missing.
async function asks(steward) {
  const { page } = steward;
  await page.goto("/query");
  if (!hasSql()) {
    await steward.sees("hedgerow-sql is not there");
    assert.equal(await page.getByRole("button", { name: "Ask", exact: true }).count(), 0);
    return;
  }
  await page.getByLabel("One statement of SQL").fill("SELECT count(*) AS people FROM hospital WHERE age < 40");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  for (const name of ["people_low", "people", "people_high"]) {
    await page.getByRole("columnheader", { name, exact: true }).waitFor();
  }
  await page.getByLabel("Name, to keep the question").fill("the young");
  await page.getByRole("button", { name: "Keep the question" }).click();
  await page.getByRole("rowheader", { name: "the young" }).waitFor();
}

test("from no study to a signed release, and questions to it, with no shell", async () => {
  const world = await World.bare();
  await within(world, async () => {
    const officers = {};
    const stewards = {};
    const keys = {};
    for (const site of SITES) {
      await world.start(site, "console");
      officers[site] = await Person.arrive(browser, world.consoles.get(site), "otto");
      await officers[site].begin(await world.firstLink(site), true);
      stewards[site] = await askedIn(browser, officers[site], "stella", "steward");
      // The key is made where it stays; its public half is on the page, to be sent to whoever writes the study.
      const { page } = stewards[site];
      await page.goto("/set-up");
      await page.getByRole("button", { name: "Make the key here" }).click();
      keys[site] = await page.locator("p.copy code", { hasText: "ed25519" }).innerText();
    }
    const { north } = stewards;

    // A study is drafted of a table that is sent.
    await north.page.goto("/");
    await north.sees("There is no study yet");
    await north.page.getByRole("link", { name: "Draft a study" }).click();
    const sent = north.page.locator('form[action="/draft/upload"]');
    await sent.getByLabel(/^CSV/).setInputFiles(world.rehearsal);
    await sent.getByLabel("Name of the study").fill("hospital");
    await sent.getByRole("button", { name: "Draft a study" }).click();
    await north.sees("roles are guesses");
    await north.page.getByLabel("Role of cost").selectOption("other");
    await north.page.getByRole("button", { name: "Keep these roles" }).click();
    await north.sees("the roles are changed");
    // Demands and sites are in the text.
    const text = north.page.locator("#study-text");
    const drafted = await text.inputValue();
    const demanded = drafted.replace(/^k = 10.*/m, "$&\nm = 1").replace('"clustering"', '"mondrian"');
    await text.fill(demanded + SITES.map((site) => world.pinned(site, keys[site])).join(""));
    await north.page.getByRole("button", { name: "Keep this text" }).click();
    await north.sees("the text is changed");
    await north.page.getByLabel("What changed, in a few words").fill("the first version");
    await north.page.getByRole("button", { name: "Save the study" }).click();
    await north.page.waitForURL("**/study");
    await north.sees("signed by 0 of 3");
    assert.equal(await north.page.getByRole("button", { name: /^Sign for/ }).count(), 0);
    world.sendStudy("north");

    for (const site of SITES) {
      const officer = officers[site];
      await officer.page.goto("/");
      await officer.sees("Your next step: Sign it here");
      await officer.page.getByRole("link", { name: "Read the study" }).click();
      // What the site's rules do not let in is not signed.
      await officer.sees("This site would not take part in a run");
      await officer.decides(`Sign for ${site}`);
      await officer.sees("nothing was signed");
      world.accept(site);
      await officer.page.getByRole("button", { name: "Look again" }).click();
      await officer.sees("This site would take part in a run.");
      await officer.decides(`Sign for ${site}`);
      await officer.sees("the study is signed for this site");
    }
    world.exchangeSignatures();
    // Nobody reloads: the page sees what the others have sent.
    await officers.east.sees("signed by all");
    for (const person of [...Object.values(officers), ...Object.values(stewards)]) await person.sawNothingElse();

    // From now on the node serves the pages, and who was signed in signs in again.
    for (const site of SITES) {
      await world.kill(site);
      await world.start(site);
      await officers[site].signIn();
    }
    await north.signIn();
    await starts(north, 1);
    await north.page.getByRole("link", { name: "To the release" }).click({ timeout: 120_000 });
    await north.page.waitForURL("**/releases/1");
    await north.sees("Every site of the study has signed, with the keys of the study.");

    await asks(north);
    await officers.south.page.goto("/ledger");
    await officers.south.sees("north has learned");
    await officers.north.page.goto("/audit");
    for (const done of ["study saved", "study signed", "run started"]) await officers.north.sees(done);
    for (const person of [...Object.values(officers), ...Object.values(stewards)]) await person.sawNothingElse();
  });
});

test("each officer approves a run, and everybody has the release; one refuses the next, and every site says so", async () => {
  const world = await World.signed();
  await within(world, async () => {
    for (const site of SITES) await world.start(site);
    const { officers, steward } = await people(world);

    await steward.page.goto("/");
    await steward.sees("Your next step: Run together");
    await starts(steward, 1);
    await steward.page.getByRole("link", { name: "To the release" }).waitFor({ timeout: 90_000 });
    // The same rows once more are the officers' to decide.
    await starts(steward, 2);
    await steward.sees("The privacy officer decides about this run.");
    await officers.north.page.goto("/");
    await officers.north.sees("Your next step: Decide about run 2");
    assert.equal(await steward.page.getByRole("button", { name: "Approve" }).count(), 0);

    for (const site of SITES) {
      await finds(officers[site], 2);
      await officers[site].sees("May this site's rows be in this run?");
      // Nothing is decided without the password.
      await officers[site].page.getByLabel(/password/i).first().fill("something else entirely");
      await officers[site].page.getByRole("button", { name: "Approve" }).click();
      await officers[site].sees("the password is not right, and nothing was done");
      await officers[site].page.goto("/runs/2");
      await officers[site].decides("Approve");
    }
    // Nobody reloads: the page follows the run.
    for (const site of SITES) {
      await officers[site].page.goto("/runs/2");
      await officers[site].sees("otto approved this run at ");
      await officers[site].page.getByRole("link", { name: "To the release" }).waitFor({ timeout: 90_000 });
    }

    const { page } = officers.south;
    await page.getByRole("link", { name: "To the release" }).click();
    await page.waitForURL("**/releases/2");
    await officers.south.sees("Who signed");
    for (const site of SITES) await page.getByRole("rowheader", { name: site, exact: true }).waitFor();
    await page.getByRole("button", { name: "Compare with publishing alone" }).click();
    await officers.south.sees("This site alone");
    await page.getByRole("button", { name: "Attack it" }).click();
    await page.getByRole("button", { name: "Attack it again" }).waitFor({ timeout: 60_000 });

    // What is handed out is what lies there, byte for byte, and the command agrees with it.
    const [handed] = await Promise.all([
      page.waitForEvent("download"),
      page.locator('a[href$="/files/manifest.json"]').first().click(),
    ]);
    assert.equal(handed.suggestedFilename(), "release-2-manifest.json");
    const there = path.join(world.folder("south"), "data/release-2/manifest.json");
    assert.deepEqual(fs.readFileSync(await handed.path()), fs.readFileSync(there));
    // Ends with 1 where a release does not hold.
    hedgerow(world.folder("south"), "verify", "data/release-2", "--study", "study.toml");

    const analyst = await askedIn(browser, officers.south, "anna", "analyst");
    await analyst.page.goto("/releases/2");
    await analyst.sees("Who signed");
    const refused = await analyst.page.goto("/runs");
    assert.equal(refused.status(), 403);

    // The third run is refused at one site.
    await starts(steward, 3);
    for (const site of ["north", "south"]) {
      await finds(officers[site], 3);
      await officers[site].decides("Approve");
    }
    await finds(officers.east, 3);
    await officers.east.decides(/^Refuse/);
    await officers.east.sees("its number is not used again");
    await officers.south.sees("`east` has given the run up");
    await steward.sees("`east` has given the run up");
    await steward.page.locator("summary", { hasText: "Give it up" }).click();
    await steward.decides("Give the run up");
    await steward.sees("run 4 is the next");
    await officers.north.page.goto("/releases");
    await officers.north.page.locator('a[href="/releases/2"]').waitFor();
    assert.equal(await officers.north.page.locator('a[href="/releases/3"]').count(), 0);

    await officers.east.page.goto("/ledger");
    await officers.east.sees("north has learned");
    await officers.east.page.goto("/audit");
    for (const done of ["run approved", "run refused"]) await officers.east.sees(done);
    for (const person of [...Object.values(officers), steward, analyst]) await person.sawNothingElse();
  });
});

test("a site that is away or killed in the middle of a run is named, and the run goes on by itself", async () => {
  const world = await World.signed({ asks: false, rows: 1200 });
  await within(world, async () => {
    await world.start("north");
    await world.start("south");
    const officer = await (await Person.arrive(browser, world.consoles.get("north"), "otto")).signIn();
    const steward = await askedIn(browser, officer, "stella", "steward");
    await starts(steward, 1);
    await steward.sees("Not connected with east.");
    await steward.sees("ask there whether the node is up");

    // From here on nobody reloads a page.
    await world.start("east");
    const other = await (await Person.arrive(browser, world.consoles.get("east"), "otto")).signIn();
    await finds(other, 1);
    await steward.page.locator("ol.steps li").first().waitFor({ timeout: 120_000 });
    await world.kill("south");
    assert.ok(!fs.existsSync(path.join(world.folder("south"), "data/release-1")), "the run is in its middle");
    for (const person of [steward, other]) {
      await person.sees("Not connected with south.");
      await person.sees("ask there whether the node is up");
    }
    await officer.page.goto("/");
    await officer.sees("A run is under way, and waits for south");

    await world.start("south");
    for (const person of [steward, other]) {
      await person.page.getByRole("link", { name: "To the release" }).waitFor({ timeout: 120_000 });
    }
    for (const site of SITES) {
      // Ends with 1 where a release does not hold.
      hedgerow(world.folder(site), "verify", "data/release-1", "--study", "study.toml");
    }
    // The page of a node that is gone says so, and does not go on as if nothing were.
    await world.kill("north");
    await steward.sees("The console does not answer. What you see may be old.");
    for (const person of [officer, steward, other]) await person.sawNothingElse();
    assert.ok(!world.log("north").includes(PLANTED));
  });
});

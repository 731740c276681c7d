// Three sites and their browsers, from the first run to a release, and what people see when a site refuses, is away or
// is killed.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { askedIn, launch, Person } from "./browser.js";
import { PLANTED, SITES, World, hedgerow, until } from "./world.js";

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

test("three sites run together, each officer approves, and everybody has the release", async () => {
  const world = await World.signed();
  await within(world, async () => {
    for (const site of SITES) await world.start(site);
    const { officers, steward } = await people(world);

    await steward.page.goto("/");
    await steward.sees("Your next step: Run together");
    await steward.page.getByRole("link", { name: "To the runs" }).first().click();
    await steward.page.goto("/runs");
    await steward.page.getByRole("button", { name: /run 1/i }).click();
    await steward.page.goto("/runs/1");
    await steward.sees("The privacy officer decides about this run.");
    assert.equal(await steward.page.getByRole("button", { name: "Approve" }).count(), 0);

    for (const site of SITES) {
      await officers[site].page.goto("/runs/1");
      await officers[site].sees("May this site's rows be in this run?");
      // Nothing is decided without the password.
      await officers[site].page.getByLabel(/password/i).first().fill("something else entirely");
      await officers[site].page.getByRole("button", { name: "Approve" }).click();
      await officers[site].page.goto("/runs/1");
      await officers[site].decides("Approve");
    }
    // Nobody reloads: the page follows the run.
    for (const site of SITES) {
      await officers[site].page.goto("/runs/1");
      await officers[site].page.getByRole("link", { name: "To the release" }).waitFor({ timeout: 90_000 });
    }

    const { page } = officers.south;
    await page.getByRole("link", { name: "To the release" }).click();
    await page.waitForURL("**/releases/1");
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
    assert.equal(handed.suggestedFilename(), "manifest.json");
    const verdict = JSON.parse(hedgerow(world.folder("south"), "verify", "data/release-1", "--study", "study.toml", "--json"));
    assert.equal(verdict.holds, true);

    const analyst = await askedIn(browser, officers.south, "anna", "analyst");
    await analyst.page.goto("/releases/1");
    await analyst.sees("Who signed");
    const refused = await analyst.page.goto("/runs");
    assert.equal(refused.status(), 403);

    await officers.east.page.goto("/ledger");
    await officers.east.sees("north");
    await officers.east.page.goto("/audit");
    await officers.east.sees("run approved");
    for (const person of [...Object.values(officers), steward, analyst]) await person.sawNothingElse();
  });
});

test("an officer refuses, and every site says so", async () => {
  const world = await World.signed();
  await within(world, async () => {
    for (const site of SITES) await world.start(site);
    const { officers, steward } = await people(world);
    await steward.page.goto("/runs");
    await steward.page.getByRole("button", { name: /run 1/i }).click();
    for (const site of ["north", "south"]) {
      await officers[site].page.goto("/runs/1");
      await officers[site].sees("May this site's rows be in this run?");
      await officers[site].decides("Approve");
    }
    await officers.east.page.goto("/runs/1");
    await officers.east.sees("May this site's rows be in this run?");
    await officers.east.decides(/^Refuse/);
    await officers.east.sees(/refused/);
    await officers.north.page.goto("/runs/1");
    await officers.north.sees(/east/, 90);
    await officers.north.page.goto("/releases");
    assert.equal(await officers.north.page.locator('a[href="/releases/1"]').count(), 0);
    for (const person of [...Object.values(officers), steward]) await person.sawNothingElse();
  });
});

test("a site that is away is named, and a site that is killed goes on where the run stands", async () => {
  const world = await World.signed({ asks: false });
  await within(world, async () => {
    await world.start("north");
    await world.start("south");
    const officer = await (await Person.arrive(browser, world.consoles.get("north"), "otto")).signIn();
    const steward = await askedIn(browser, officer, "stella", "steward");
    await steward.page.goto("/runs");
    await steward.page.getByRole("button", { name: /run 1/i }).click();
    await steward.page.goto("/runs/1");
    await steward.sees(/east/, 30);

    // One of those who wait loses its power, and comes back.
    await world.kill("south");
    await world.start("south");
    await world.start("east");
    await until("the release", async () => {
      await steward.page.goto("/runs/1");
      const again = steward.page.getByRole("button", { name: "Go on with it" });
      if (await again.count()) await again.click();
      return (await steward.page.getByRole("link", { name: "To the release" }).count()) > 0;
    }, 120);
    for (const site of SITES) {
      const verdict = JSON.parse(hedgerow(world.folder(site), "verify", "data/release-1", "--study", "study.toml", "--json"));
      assert.equal(verdict.holds, true);
    }
    // The page of a node that is gone says so, and does not go on as if nothing were.
    await world.kill("north");
    await steward.sees("The console does not answer. What you see may be old.", 30);
    await officer.sawNothingElse();
    assert.ok(!world.log("north").includes(PLANTED));
  });
});

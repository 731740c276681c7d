// Every page at three widths: nothing wider than the window, nothing serious that axe finds, and all of it by keyboard
// alone. With PICTURES naming a folder, pictures of all pages are left there.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import path from "node:path";

import { askedIn, launch, Person } from "./browser.js";
import { SITES, World } from "./world.js";

const WIDTHS = [360, 800, 1400];
const PAGES = [
  "/",
  "/set-up",
  "/draft",
  "/study",
  "/runs",
  "/runs/1",
  "/releases",
  "/releases/1",
  "/query",
  "/ledger",
  "/audit",
  "/users",
];
// What looks otherwise to whoever may change it.
const DRAFTING = ["/set-up", "/draft", "/draft/columns/4", "/draft/columns/2", "/runs", "/query"];

let browser;
let world;
let officer;
let steward;

before(async () => {
  browser = await launch();
  world = await World.signed({ asks: false });
  for (const site of SITES) await world.start(site);
  officer = await (await Person.arrive(browser, world.consoles.get("north"), "otto")).signIn();
  steward = await askedIn(browser, officer, "stella", "steward");
  await steward.page.goto("/runs");
  await steward.page.getByRole("button", { name: "Start it" }).click();
  await steward.page.getByRole("link", { name: "To the release" }).waitFor();
  await steward.page.goto("/releases/1");
  await steward.page.getByRole("button", { name: "Compare with publishing alone" }).click();
  await steward.sees("This site alone");
  await steward.page.getByRole("button", { name: "Attack it" }).click();
  await steward.page.getByRole("button", { name: "Attack it again" }).waitFor();
  await steward.page.goto("/draft");
  await steward.page.locator("section", { hasText: "Of this site" }).getByRole("button", { name: "Draft a study" }).click();
  await steward.sees("roles are guesses");
});
after(async () => {
  await browser?.close();
  await world?.close();
});

async function isForEverybody(person, where, kind) {
  const { page } = person;
  const answer = await page.goto(where);
  assert.equal(answer.status(), 200);
  // What is looked for behind the page is found before pictures are taken.
  await page.locator(".badge", { hasText: /^being / }).first().waitFor({ state: "detached" });
  assert.ok((await answer.body()).length < 200_000, "a page is under 200 KB");
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    if (process.env.PICTURES) {
      const name = `${kind}${where.replaceAll("/", "-")}-${width}.png`;
      await page.screenshot({ path: path.join(process.env.PICTURES, name), fullPage: true });
    }
    // Between these widths a page is only wider, with nothing in it that is not in one of them.
    if (width !== 800) assert.deepEqual(await person.seriousFindings(), [], `${where} at ${width}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(wide <= 0, `${where} is ${wide} pixels wider than a window of ${width}`);
  }
  await page.setViewportSize({ width: 1400, height: 900 });
}

for (const where of PAGES) {
  test(`${where} is for everybody at every width`, () => isForEverybody(officer, where, "officer"));
}

for (const where of DRAFTING) {
  test(`${where} is for every steward at every width`, () => isForEverybody(steward, where, "steward"));
}

test("signing in is for everybody at every width", async () => {
  const nobody = await Person.arrive(browser, world.consoles.get("north"), "otto");
  await isForEverybody(nobody, "/sign-in", "nobody");
});

test("pages can be read in the dark", async () => {
  const { page } = officer;
  await page.emulateMedia({ colorScheme: "dark" });
  for (const where of ["/", "/study", "/draft", "/releases/1"]) {
    await page.goto(where);
    assert.deepEqual(await officer.seriousFindings(), [], where);
  }
  await page.emulateMedia({ colorScheme: null });
});

test("every page has the headers that keep others out", async () => {
  for (const where of [...PAGES, "/sign-in", "/nowhere"]) {
    const answer = await officer.page.goto(where);
    const headers = answer.headers();
    assert.match(headers["content-security-policy"], /default-src 'self'/, where);
    assert.match(headers["content-security-policy"], /frame-ancestors 'none'/, where);
    assert.equal(headers["x-content-type-options"], "nosniff", where);
    assert.match(headers["cache-control"], /no-store/, where);
  }
});

test("the keyboard alone is enough to sign in, read a release and sign out", async () => {
  const person = await Person.arrive(browser, world.consoles.get("north"), "otto");
  const { page } = person;
  // Tab until the element with the focus is what is looked for.
  const reach = async (what, matches) => {
    for (let steps = 0; steps < 120; steps += 1) {
      const found = await page.evaluate(() => {
        const one = document.activeElement;
        const style = getComputedStyle(one);
        return {
          text: (one.innerText || one.getAttribute("aria-label") || one.id || "").trim(),
          href: one.getAttribute("href") ?? "",
          shows: style.outlineStyle !== "none" || style.boxShadow !== "none",
          isBody: one === document.body,
        };
      });
      if (!found.isBody && matches(found)) {
        assert.ok(found.shows, `${what} shows that it has the focus`);
        return;
      }
      await page.keyboard.press("Tab");
    }
    throw new Error(`${what} is not reached by the keyboard`);
  };
  await page.goto("/sign-in");
  await reach("the name", (one) => one.text === "name");
  await page.keyboard.type("otto");
  await page.keyboard.press("Tab");
  await page.keyboard.type("otto of green hedges");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname === "/");
  await reach("the releases", (one) => one.href === "/releases");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/releases");
  await reach("the release", (one) => one.href === "/releases/1");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/releases/1");
  await reach("signing out", (one) => /sign out/i.test(one.text));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/sign-in");
  await person.sawNothingElse();
});

test("a page follows what happens though nobody reloads it", async () => {
  const watching = await (await Person.arrive(browser, world.consoles.get("north"), "otto")).signIn();
  await watching.page.goto("/users");
  await officer.page.goto("/users");
  await officer.page.getByLabel("Name", { exact: true }).fill("audra");
  await officer.page.getByLabel("Role", { exact: true }).selectOption("auditor");
  await officer.page.getByRole("button", { name: "Make a link" }).click();
  // The page asks anew; nobody reloads it.
  await watching.page.getByRole("rowheader", { name: "audra" }).waitFor({ timeout: 10_000 });
});

test("without JavaScript every page says the same once it is reloaded", async () => {
  const context = await browser.newContext({ baseURL: world.consoles.get("north"), javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto("/sign-in");
  await page.getByLabel("Name").fill("otto");
  await page.getByLabel("Password").fill("otto of green hedges");
  await page.getByRole("button", { name: "Sign in" }).click();
  for (const where of PAGES) {
    const answer = await page.goto(where);
    assert.equal(answer.status(), 200, where);
    assert.ok((await page.locator("h1").count()) === 1, where);
  }
});

test("the report is printed without what belongs to the page", async () => {
  const { page } = officer;
  await page.goto("/releases/1/report");
  await page.emulateMedia({ media: "print" });
  const shown = await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
  assert.ok(shown, "nothing of the report is cut off");
  const paper = await page.pdf({ format: "A4" });
  assert.ok(paper.length > 10_000);
  await page.emulateMedia({ media: null });
});

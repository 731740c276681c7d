// The system's Chromium, and what people do in it. Whatever a page receives is kept, so that a test can search all of
// it for what must not be there.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import fs from "node:fs";
import { chromium } from "playwright-core";

import { password, PLANTED } from "./world.js";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export function launch() {
  const executablePath = process.env.CHROMIUM ?? PLACES.find((place) => fs.existsSync(place));
  // Root has no sandbox of its own to give away.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args });
}

// Somebody's own browser, as another machine would be.
export class Person {
  static async arrive(browser, address, name) {
    const person = new Person();
    person.name = name;
    person.address = address;
    person.context = await browser.newContext({ baseURL: address, viewport: { width: 1400, height: 900 } });
    person.context.setDefaultTimeout(60_000);
    person.page = await person.context.newPage();
    person.foreign = [];
    person.received = [];
    person.page.on("request", (request) => {
      if (!request.url().startsWith(address)) person.foreign.push(request.url());
    });
    // A download, and an answer that nobody waits for any more, do not finish; nor does the stream of events.
    person.page.on("requestfinished", (request) => person.received.push(person.#answer(request)));
    person.page.on("pageerror", (error) => person.foreign.push(`an error in a script: ${error}`));
    return person;
  }

  // The text of an answer; none where the answer leads elsewhere, or the browser has left it already.
  #answer(request) {
    const text = request.response().then((response) => response.text());
    return text.then((text) => [request.url(), text], () => null);
  }

  async signIn() {
    await this.page.goto("/sign-in");
    await this.page.getByLabel("Name").fill(this.name);
    await this.page.getByLabel("Password").fill(password(this.name));
    await this.page.getByRole("button", { name: "Sign in" }).click();
    await this.page.waitForURL((url) => url.pathname !== "/sign-in");
    return this;
  }

  // By the link that the officer hands over; whoever is first, an officer, says who that is.
  async begin(link, isFirst = false) {
    await this.page.goto(link);
    if (isFirst) await this.page.getByLabel("Name", { exact: true }).fill(this.name);
    await this.page.getByLabel(/^Password/).fill(password(this.name));
    await this.page.getByLabel("The same again").fill(password(this.name));
    await this.page.getByRole("button", { name: "Begin" }).click();
    await this.page.waitForURL((url) => !url.pathname.startsWith("/first/"));
    return this;
  }

  async sees(words, seconds = 60) {
    const found = this.page.getByText(words).first();
    await found.waitFor({ timeout: seconds * 1000 });
  }

  // Types the password again, and decides.
  async decides(button) {
    const form = this.page.locator("form", { has: this.page.getByRole("button", { name: button }) });
    await form.getByLabel(/password/i).fill(password(this.name));
    await form.getByRole("button", { name: button }).click();
  }

  // Nothing came that must not, and nothing was asked of any other machine.
  async sawNothingElse() {
    assert.deepEqual(this.foreign, []);
    const read = (await Promise.all(this.received)).filter((answer) => answer !== null);
    assert.ok(read.length > 0, "no answer could be searched");
    for (const [url, text] of read) {
      assert.ok(!text.includes(PLANTED), `${url} shows a record`);
    }
  }

  // What axe finds that keeps people out.
  async seriousFindings() {
    await this.page.evaluate(axe);
    const found = await this.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact));
    return serious.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`);
  }
}

// A person asked in by the officer, who hands the link over.
export async function askedIn(browser, officer, name, role) {
  await officer.page.goto("/users");
  await officer.page.getByLabel("Name", { exact: true }).fill(name);
  await officer.page.getByLabel("Role", { exact: true }).selectOption(role);
  await officer.page.getByRole("button", { name: "Make a link" }).click();
  const link = await officer.page.locator("p.copy code").innerText();
  const person = await Person.arrive(browser, officer.address, name);
  return person.begin(link);
}

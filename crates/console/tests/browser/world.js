// Three sites on this machine, each in a folder of its own as institutions have it, with a node that serves the
// console. Most tests begin where all have signed, and have the commands of between-institutions.md do what comes before;
// `World.bare` begins where there is nothing but rows and a site's file.

import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const SITES = ["north", "south", "east"];
export const PEOPLE = { stella: "steward", otto: "officer", anna: "analyst", audra: "auditor" };
// A word that stands in records and in nothing that may be shown.
export const PLANTED = "Quillfeather";

const HEDGEROW = process.env.HEDGEROW ?? fileURLToPath(new URL("../../../../target/debug/hedgerow", import.meta.url));

export const password = (name) => `${name} of green hedges`;

export function hedgerow(folder, ...words) {
  return execFileSync(HEDGEROW, words, { cwd: folder, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

// Waits for something, and says what was waited for where it does not come.
export async function until(what, ask, seconds = 60) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await ask();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited ${seconds} s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// Whether releases can be asked in SQL: the program lies beside `hedgerow`, or on PATH.
export function hasSql() {
  const folders = [path.dirname(fs.realpathSync(HEDGEROW)), ...(process.env.PATH ?? "").split(path.delimiter)];
  return folders.some((folder) => fs.existsSync(path.join(folder, "hedgerow-sql")));
}

export class World {
  // What runs at each site: a node, or a console alone.
  #running = new Map();
  // Where the node of each site listens.
  #addresses = new Map();

  // Sites whose study all have signed; with `asks`, their officers are asked before a second run.
  static async signed({ asks = true, rows = 400 } = {}) {
    const world = new World();
    await world.#found(rows);
    world.#settle(asks);
    for (const site of SITES) hedgerow(world.folder(site), "study", "sign", "--site", "site.toml");
    world.exchangeSignatures();
    return world;
  }

  // Sites with rows and a file that accepts nothing: no key, no study, nobody who may use the pages.
  static async bare() {
    const world = new World();
    await world.#found(400);
    for (const site of SITES) {
      const lines = [`site = "${site}"`, 'study = "study.toml"', `key = "${site}.key"`, 'data = "data"'];
      const text = [...lines, "", "[source]", 'file = "rows.csv"', ""].join("\n");
      world.#writeSite(site, text);
    }
    return world;
  }

  // Folders with rows, and addresses.
  async #found(rows) {
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), "hedgerow-browser-"));
    hedgerow(this.root, "generate", "hospital", "--rows", `${rows}`, "--sites", "3", "--out", "made");
    this.consoles = new Map();
    const whole = [];
    for (const site of SITES) {
      fs.mkdirSync(this.folder(site));
      this.#addresses.set(site, `127.0.0.1:${await freePort()}`);
      this.consoles.set(site, `http://127.0.0.1:${await freePort()}`);
      const text = fs.readFileSync(path.join(this.root, "made", `${site}.csv`), "utf8");
      const [head, ...records] = text.trimEnd().split("\n");
      const place = head.split(",").indexOf("patient");
      const planted = records.map((row, number) => {
        const cells = row.split(",");
        cells[place] = `${PLANTED}-${site}-${number}`;
        return cells.join(",");
      });
      fs.writeFileSync(path.join(this.folder(site), "rows.csv"), [head, ...planted, ""].join("\n"));
      whole.push(...(whole.length === 0 ? [head] : []), ...planted);
    }
    // Invented, and with every value that the sites have: a study is drafted of it.
    this.rehearsal = path.join(this.root, "rehearsal.csv");
    fs.writeFileSync(this.rehearsal, [...whole, ""].join("\n"));
  }

  // Keys, a study with the sites in it, rules that let it in, and an officer who may use the pages.
  #settle(asks) {
    const made = path.join(this.root, "made");
    let study = fs.readFileSync(path.join(made, "study.toml"), "utf8").replace(/^# m = 1/m, "m = 1");
    for (const site of SITES) study += this.pinned(site, hedgerow(this.folder(site), "keygen", "--out", `${site}.key`));
    for (const site of SITES) {
      const folder = this.folder(site);
      fs.writeFileSync(path.join(folder, "study.toml"), study);
      fs.cpSync(path.join(made, "taxonomies"), path.join(folder, "taxonomies"), { recursive: true });
      let text = this.#agreed(site);
      if (asks) text = text.replace(/^(rerun|runs) = .*\n/gm, "").replace("[accept]\n", '[accept]\nrerun = "ask"\nruns = 1\n');
      this.#writeSite(site, text);
      execFileSync(HEDGEROW, ["console", "user", "add", "otto", "--role", "officer", "--site", "site.toml"], {
        cwd: folder,
        input: `${password("otto")}\n`,
        stdio: ["pipe", "pipe", "pipe"],
      });
    }
  }

  // The file that is drafted of the study, in which the officer agrees to every line.
  #agreed(site) {
    const folder = this.folder(site);
    hedgerow(folder, "site", "new", "--study", "study.toml", "--site", site, "--rows", "rows.csv", "--out", "drafted.toml");
    return fs.readFileSync(path.join(folder, "drafted.toml"), "utf8").replace(/^( *)#(?=[^ ])/gm, "$1");
  }

  #writeSite(site, text) {
    const listen = this.consoles.get(site).replace("http://", "");
    const file = path.join(this.folder(site), "site.toml");
    fs.writeFileSync(file, `${text}\n[console]\nlisten = "${listen}"\n`, { mode: 0o600 });
  }

  // The officer writes into the site's file what the site accepts; no page does.
  accept(site) {
    this.#writeSite(site, this.#agreed(site));
  }

  // What the study says of a site.
  pinned(site, key) {
    return `\n[[site]]\nname = "${site}"\naddress = "${this.#addresses.get(site)}"\n${key.trim()}\n`;
  }

  folder(site) {
    return path.join(this.root, site);
  }

  // Sites send each other their signatures in any way.
  exchangeSignatures() {
    const all = SITES.map((site) => fs.readFileSync(path.join(this.folder(site), "study.toml.sig"), "utf8"));
    for (const site of SITES) fs.writeFileSync(path.join(this.folder(site), "study.toml.sig"), all.join(""));
  }

  // One site sends its study to the others.
  sendStudy(from) {
    for (const site of SITES.filter((site) => site !== from)) {
      for (const name of ["study.toml", "taxonomies"]) {
        fs.cpSync(path.join(this.folder(from), name), path.join(this.folder(site), name), { recursive: true });
      }
    }
  }

  // A node with its console, or with `command` a console alone, before there is a study that a node could serve.
  async start(site, command = "node") {
    const log = fs.openSync(path.join(this.folder(site), "node.log"), "a");
    const child = spawn(HEDGEROW, [command, "--site", "site.toml"], {
      cwd: this.folder(site),
      stdio: ["ignore", log, log],
    });
    this.#running.set(site, child);
    fs.closeSync(log);
    await until(`the console of ${site}`, async () => {
      if (child.exitCode !== null) throw new Error(this.log(site));
      return fetch(`${this.consoles.get(site)}/sign-in`).then((answer) => answer.ok, () => false);
    });
  }

  // The link by which the first user begins, as a console prints it.
  firstLink(site) {
    return until(`the first link of ${site}`, () => /http:\S+\/first\/\S+/.exec(this.log(site))?.[0]);
  }

  // As a machine that loses its power.
  kill(site) {
    return new Promise((resolve) => {
      const child = this.#running.get(site);
      this.#running.delete(site);
      if (child.exitCode !== null) return resolve();
      child.once("exit", resolve);
      child.kill("SIGKILL");
    });
  }

  log(site) {
    const file = path.join(this.folder(site), "node.log");
    return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
  }

  async close() {
    await Promise.all([...this.#running.keys()].map((site) => this.kill(site)));
    fs.rmSync(this.root, { recursive: true, force: true });
  }
}

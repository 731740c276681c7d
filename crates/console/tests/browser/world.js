// Three sites on this machine, each in a folder of its own as institutions have it, with a node that serves the
// console. What the pages cannot do is done by the command, as between-institutions.md types it: keys, a study with the
// sites in it, and the first user.

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

export class World {
  #nodes = new Map();

  // Sites whose study all have signed; with `asks`, their officers are asked before every run.
  static async signed({ asks = true } = {}) {
    const world = new World();
    await world.#found(asks);
    for (const site of SITES) hedgerow(world.folder(site), "study", "sign", "--site", "site.toml");
    world.exchangeSignatures();
    return world;
  }

  // The same before anybody has signed.
  static async unsigned({ asks = true } = {}) {
    const world = new World();
    await world.#found(asks);
    return world;
  }

  async #found(asks) {
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), "hedgerow-browser-"));
    hedgerow(this.root, "generate", "hospital", "--rows", "400", "--sites", "3", "--out", "made");
    const made = path.join(this.root, "made");
    let study = fs.readFileSync(path.join(made, "study.toml"), "utf8").replace(/^# m = 1/m, "m = 1");
    this.consoles = new Map();
    for (const site of SITES) {
      const folder = this.folder(site);
      fs.mkdirSync(folder);
      const key = hedgerow(folder, "keygen", "--out", `${site}.key`);
      study += `\n[[site]]\nname = "${site}"\naddress = "127.0.0.1:${await freePort()}"\n${key}`;
      const [head, ...rows] = fs.readFileSync(path.join(made, `${site}.csv`), "utf8").trimEnd().split("\n");
      const place = head.split(",").indexOf("patient");
      const planted = rows.map((row, number) => {
        const cells = row.split(",");
        cells[place] = `${PLANTED}-${site}-${number}`;
        return cells.join(",");
      });
      fs.writeFileSync(path.join(folder, "rows.csv"), [head, ...planted, ""].join("\n"));
    }
    for (const site of SITES) {
      const folder = this.folder(site);
      fs.writeFileSync(path.join(folder, "study.toml"), study);
      fs.cpSync(path.join(made, "taxonomies"), path.join(folder, "taxonomies"), { recursive: true });
      hedgerow(folder, "site", "new", "--study", "study.toml", "--site", site, "--rows", "rows.csv");
      const file = path.join(folder, "site.toml");
      // The officer agrees to every line.
      let text = fs.readFileSync(file, "utf8").replace(/^( *)#(?=[^ ])/gm, "$1");
      if (asks) text = text.replace(/^(rerun|runs) = .*\n/gm, "").replace("[accept]\n", '[accept]\nrerun = "ask"\nruns = 0\n');
      const at = `127.0.0.1:${await freePort()}`;
      text += `\n[console]\nlisten = "${at}"\n`;
      fs.writeFileSync(file, text, { mode: 0o600 });
      this.consoles.set(site, `http://${at}`);
      execFileSync(HEDGEROW, ["console", "user", "add", "otto", "--role", "officer", "--site", "site.toml"], {
        cwd: folder,
        input: `${password("otto")}\n`,
        stdio: ["pipe", "pipe", "pipe"],
      });
    }
  }

  folder(site) {
    return path.join(this.root, site);
  }

  // Sites send each other their signatures in any way.
  exchangeSignatures() {
    const all = SITES.map((site) => fs.readFileSync(path.join(this.folder(site), "study.toml.sig"), "utf8"));
    for (const site of SITES) fs.writeFileSync(path.join(this.folder(site), "study.toml.sig"), all.join(""));
  }

  async start(site) {
    const log = fs.openSync(path.join(this.folder(site), "node.log"), "a");
    const node = spawn(HEDGEROW, ["node", "--site", "site.toml"], {
      cwd: this.folder(site),
      stdio: ["ignore", log, log],
    });
    this.#nodes.set(site, node);
    await until(`the console of ${site}`, async () => {
      if (node.exitCode !== null) throw new Error(this.log(site));
      return fetch(`${this.consoles.get(site)}/sign-in`).then((answer) => answer.ok, () => false);
    });
  }

  // As a machine that loses its power.
  kill(site) {
    return new Promise((resolve) => {
      const node = this.#nodes.get(site);
      this.#nodes.delete(site);
      node.once("exit", resolve);
      node.kill("SIGKILL");
    });
  }

  log(site) {
    return fs.readFileSync(path.join(this.folder(site), "node.log"), "utf8");
  }

  async close() {
    await Promise.all([...this.#nodes.keys()].map((site) => this.kill(site)));
    fs.rmSync(this.root, { recursive: true, force: true });
  }
}

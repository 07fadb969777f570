import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createApp } from "../../../src/compose/app.ts";
import { loadConfig } from "../../../src/platform/config/load.ts";
import { createLogger } from "../../../src/platform/logger/index.ts";
import { makeDesk } from "../billing-operator.ts";

describe("till config check", () => {
  const desk = makeDesk({ TILL_NETWORKS: "tron,base" });

  it("warns of networks with a single provider, and of no others", async () => {
    const store = await desk.store();
    const env = { TILL_TRON_RPC_URLS: "http://127.0.0.1:1/jsonrpc" };
    const alone = await store.till(["config", "check"], { env });
    expect(alone.code).to.equal(0);
    expect(alone.stderr).to.include("The settings are valid");
    expect(alone.stderr).to.include("Warning: TRON has only one provider");
    expect(alone.stderr).not.to.include("Base");
    const { warnings } = (await store.json(["config", "check"], { env })) as {
      warnings: readonly string[];
    };
    expect(warnings.filter((warning) => warning.includes("only one provider"))).to.have.length(1);
    const shipped = await store.till(["config", "check"]);
    expect(shipped.stderr)
      .to.include("The settings are valid")
      .and.not.to.include("only one provider");
  });

  it("reports the mistakes of the operator's own languages, with which a server starts and logs them", async () => {
    const store = await desk.store();
    const folder = join(store.folder, "languages");
    mkdirSync(folder);
    writeFileSync(join(folder, "nl.yaml"), "dir: ltr\nname: Nederlands\npayTo: Aan\n");
    const env = { TILL_LANGUAGES_FOLDER: folder };
    expect((await store.till(["config", "check"], { env })).code).to.equal(0);

    writeFileSync(join(folder, "de.yaml"), "payTo: Geld an\npayTitle: Zahlung\n");
    const mistake = `payTitle in ${join(folder, "de.yaml")}:2 must have the placeholders {amount}, {merchant}, as in English, not none`;
    const checked = await store.till(["config", "check"], { env });
    expect(checked.code).to.equal(78);
    expect(checked.stderr).to.contain(`A setting is invalid:\n  ${mistake}\n`);
    // A command that needs no words does not look at them.
    expect((await store.till(["config", "show"], { env })).code).to.equal(0);

    const lines: string[] = [];
    const { config } = await loadConfig({
      mode: "serve",
      env: { ...env, TILL_DATA_DIR: store.folder, TILL_NETWORKS: "sandbox", TILL_RATES: "off" },
    });
    const destination = { write: (line: string) => lines.push(line) };
    const logger = createLogger({ level: "error", format: "json", destination });
    const app = await createApp(config, "migrate", { logger });
    try {
      await app.start();
    } finally {
      await app.close();
    }
    const said = lines.map((line) => JSON.parse(line) as { msg: string });
    expect(said.map(({ msg }) => msg)).to.deep.equal([
      `${mistake}; the texts of this file are not used`,
    ]);
  });
});

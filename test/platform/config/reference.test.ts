import { expect } from "chai";
import { allOptions, commonOptions, settings } from "../../../src/platform/config/settings.ts";
import { settingsReference } from "../../../src/platform/config/reference.ts";
import {
  flagProperty,
  readValue,
  wordsOf,
  type Setting,
} from "../../../src/platform/config/setting.ts";

/** The settings on which operators' scripts rely; their names never change. */
const relied =
  `TILL_DATA_DIR DATABASE_URL TILL_HOST TILL_PORT TILL_BASE_URL TILL_NETWORKS TILL_SECRET TILL_SECRET_FILE
  TILL_REGISTRATION TILL_VERIFICATION TILL_BILLING TILL_WEBHOOK_ALLOW_CIDRS TILL_RATE_LIMIT_SCALE TILL_TRUST_PROXY
  TILL_LOG_LEVEL TILL_METRICS_TOKEN TILL_SANDBOX_BLOCK_MS TILL_SANDBOX_MIXED`.split(/\s+/);

const declared: readonly Setting[] = Object.values(settings);

describe("the declarations of settings", () => {
  it("include every name on which scripts rely", () => {
    expect(declared.map(({ env }) => env)).to.include.members(relied);
  });

  it("have distinct names, variables and flags", () => {
    for (const names of [
      declared.map(({ name }) => name),
      declared.map(({ env }) => env),
      declared.flatMap(({ flag }) => flag ?? []),
    ]) {
      expect(new Set(names).size).to.equal(names.length);
    }
  });

  it("have descriptions in sentences, and valid examples and defaults", () => {
    for (const setting of declared) {
      expect(setting.description, setting.name).to.match(/^[A-Z].+\.$/s);
      for (const text of [setting.default, setting.demo, setting.example]) {
        // The example of a secret is the command that generates one.
        if (text === null || text.startsWith("$(")) continue;
        expect(() => readValue(setting.schema, text, "/"), setting.name).not.to.throw();
      }
    }
  });

  it("give no secret a flag", () => {
    for (const { schema, flag, name } of declared) {
      expect(wordsOf(schema).isSecret === true && flag !== null, name).to.equal(false);
    }
  });
});

describe("the flags of settings", () => {
  it("exist once for every setting that is not a secret", () => {
    const options = allOptions().map(({ flags }) => flags);
    expect(options).to.include.members(["--config <path>", "--port <number>", "--sandbox-mixed"]);
    expect(options.some((flags) => flags.startsWith("--secret "))).to.equal(false);
    expect(commonOptions().map(({ flags }) => flags)).to.deep.equal([
      "--data-dir <path>",
      "--config <path>",
    ]);
  });

  it("are found under the property that the command-line parser derives from them", () => {
    expect(flagProperty("--base-url")).to.equal("baseUrl");
    expect(flagProperty("--webhook-allow-cidrs")).to.equal("webhookAllowCidrs");
  });
});

describe("the reference of settings", () => {
  const reference = settingsReference();

  it("has a section for every setting, with its default", () => {
    for (const { env } of declared) expect(reference).to.include(`### \`${env}\`\n`);
    for (const suffix of ["RPC_URLS", "RPC_HEADERS", "CONFIRMATIONS", "POLL_MS"]) {
      expect(reference).to.include(`### \`TILL_<NETWORK>_${suffix}\`\n`);
    }
    expect(reference).to.include("- Default: `tron`; in the demo `sandbox`\n");
  });

  it("is the same each time and ends with a line break", () => {
    expect(settingsReference()).to.equal(reference);
    expect(reference).to.match(/[^\n]\n$/);
    expect(reference).not.to.match(/undefined|null|\[object/);
  });
});

import { expect } from "chai";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../src/platform/config/load.ts";
import { settingsReference } from "../../../src/platform/config/reference.ts";
import { ConfigError } from "../../../src/platform/config/config.ts";
import { allOptions, settings } from "../../../src/platform/config/settings.ts";
import { declareSettings, wholeNumber } from "../../../src/platform/config/setting.ts";

const declared = {
  ...settings,
  ...declareSettings({
    teaBreakMinutes: {
      group: "Limits",
      schema: wholeNumber(1, 60, "minutes"),
      default: "15",
      demo: "1",
      description: "The length of a tea break. It is for this test alone.",
      example: "20",
    },
  }),
};

describe("A setting that is declared once", () => {
  let cwd: string;

  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), "till-setting-"));
  });
  afterEach(() => {
    rmSync(cwd, { recursive: true });
  });

  const load = (given: { env?: Record<string, string>; flags?: Record<string, unknown> } = {}) =>
    loadConfig({ mode: "cli", cwd, env: {}, ...given }, declared);

  it("is in the configuration and in the report of all settings, from every source", async () => {
    const byDefault = await load();
    expect(byDefault.config).to.include({ teaBreakMinutes: 15 });
    writeFileSync(join(cwd, "till.yaml"), "teaBreakMinutes: 30\n");
    for (const [given, value, source] of [
      [{ flags: { config: "till.yaml" } }, 30, "file"],
      [{ env: { TILL_TEA_BREAK_MINUTES: "40" } }, 40, "environment"],
      [{ flags: { teaBreakMinutes: "50" } }, 50, "flag"],
    ] as const) {
      const loaded = await load(given);
      expect(loaded.config).to.include({ teaBreakMinutes: value });
      const reported = loaded.settings.find(({ name }) => name === "TILL_TEA_BREAK_MINUTES");
      expect(reported).to.deep.include({ key: "teaBreakMinutes", value: String(value) });
      expect(reported?.origin.source).to.equal(source);
    }
  });

  it("is checked, and named by a misspelling", async () => {
    const told = async (env: Record<string, string>) => {
      const refused: unknown = await load({ env }).catch((error: unknown) => error);
      if (!(refused instanceof ConfigError)) throw new Error("it was not refused");
      return refused.problems.map(({ name, message }) => `${name} ${message}`);
    };
    expect(await told({ TILL_TEA_BREAK_MINUTES: "61" })).to.deep.equal([
      'TILL_TEA_BREAK_MINUTES must be a whole number of minutes from 1 to 60, not "61"',
    ]);
    expect(await told({ TILL_TEA_BRAKE_MINUTES: "5" })).to.deep.equal([
      "TILL_TEA_BRAKE_MINUTES is not a setting; did you mean TILL_TEA_BREAK_MINUTES?",
    ]);
  });

  it("has a flag and an entry in the reference", () => {
    expect(allOptions(declared)).to.deep.include({
      flags: "--tea-break-minutes <number>",
      description: "The length of a tea break. (TILL_TEA_BREAK_MINUTES)",
    });
    expect(settingsReference(declared)).to.contain(
      "### `TILL_TEA_BREAK_MINUTES`\n\nThe length of a tea break. It is for this test alone.\n\n" +
        "- Takes: a whole number of minutes from 1 to 60\n- Default: `15`; in the demo `1`\n" +
        "- Flag: `--tea-break-minutes`\n- In the file: `teaBreakMinutes`\n- Example: `TILL_TEA_BREAK_MINUTES=20`",
    );
  });
});

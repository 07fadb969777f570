// The outcomes of right, wrong, empty, hostile and borderline values of every setting, compared with the recorded ones.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { ConfigError, type LoadedConfig } from "../../../src/platform/config/config.ts";
import { loadConfig } from "../../../src/platform/config/load.ts";
import { networkSettings, networkVariable } from "../../../src/platform/config/network-settings.ts";
import { flagProperty } from "../../../src/platform/config/setting.ts";
import { settings } from "../../../src/platform/config/settings.ts";
import { formatted } from "../../support/formatted.ts";

const isWriting = process.env["TILL_GOLDEN"] === "write";
const recordedFile = new URL("messages.json", import.meta.url);

/** Texts for variables, flags and the file. */
const texts: readonly string[] = [
  ...[
    "",
    " ",
    "x",
    "X y",
    " 5 ",
    "\t7\n",
    "-1",
    "+1",
    "01",
    "1e3",
    "0x10",
    "1_000",
    "1,5",
    "٣",
    "NaN",
  ],
  ...[
    "0",
    "1",
    "2",
    "9",
    "10",
    "60",
    "500",
    "501",
    "1000",
    "1001",
    "10000",
    "10001",
    "36500",
    "36501",
  ],
  ...[
    "65535",
    "65536",
    "100000",
    "100001",
    "1000000",
    "1000001",
    "3600000",
    "3600001",
    "99999999999",
  ],
  ...["0.5", "2.5", "1000.0", "1000.5", "0.123456", "0.1234567", ".5", "5."],
  ...["true", "false", "TRUE", "yes", "on", "off", "On", "null", "undefined"],
  ...["open", "invite", "closed", "required", "debug", "json", "auto", "fatal"],
  ...["a,b", ",", "tron", "Tron", "tron,sandbox", " tron , tron ", "ethereum", "dogecoin"],
  ...["\0", "a\0b", "line\nbreak", "\u001b[31m", "\u202e", "ключ 🎁", "__proto__", "constructor"],
  ...["'; DROP TABLE invoices; --", "$(reboot)", "${HOME}", "%00", "../../etc/passwd", "/etc/till"],
  ...["x".repeat(59), "x".repeat(61), "x".repeat(256), "x".repeat(257), "9".repeat(300)],
  ...[
    "localhost",
    "0.0.0.0",
    "::1",
    "[::1]",
    "fe80::1%eth0",
    "host_name",
    "-host",
    "a..b",
    "256.0.0.1",
  ],
  ...[
    "10.0.0.0/8",
    "10.0.0.0/33",
    "10.0.0.0/08",
    "FD00::/8",
    "fd00::/129",
    "10.0.0.1,::1",
    "10.0.0.0/8/8",
  ],
  ...["https://pay.example.com", "https://pay.example.com/a//", "http://x/?q=1", "http://x/#f"],
  ...[
    "https://user:word@x/",
    "ftp://x/",
    "https://",
    "//x",
    "https://x:99999/",
    "HTTPS://X.example/A",
  ],
  ...[
    "http://10.0.0.1:8545,https://rpc.example.com/v1/0123456789abcdef0123",
    "https://a/ , https://a/",
  ],
  ...[
    "15 3 * * *",
    "* * * * *",
    "15 3 * *",
    "60 3 * * *",
    "*/5 * * * 1-5",
    "15 3 31 2 *",
    "@daily",
  ],
  ...[
    "postgres://till:word@db.internal:5432/till",
    "postgresql://h/d",
    "postgres://h",
    "mysql://h/d",
  ],
  ...[
    "postgres://u:p#w@h/d",
    "postgres://h1,h2/d?target_session_attrs=read-write",
    "postgres:///d?host=/run",
  ],
  ...["{}", "[]", "{", '"x"', '{"A":"b"}', '{"A":""}', '{"A":5}', '{"A B":"c"}', '{"Host":"b"}'],
  ...['{"A":"ü"}', '{"api.example.com":{"A":"b"}}', '{"api.example.com":{"Host":"b"}}', '{"A":{}}'],
  ...['{"__proto__":"b"}', '{"__proto__":{"A":"b"}}', '{"a":["b"]}'],
  ...[
    "12345678",
    "1234567",
    "with space 12",
    "a-token-of-the-tests",
    "0123456789abcdef0123456789abcdef",
  ],
];

/** Values that only a file can give. */
const values: readonly unknown[] = [
  ...[null, true, false, 0, 1, 5, -1, 2.5, 1e21, 65536],
  ...[
    [],
    [""],
    ["x"],
    [" tron "],
    ["tron", "tron"],
    [1, 2],
    [null],
    [["tron"]],
    [{}],
    ["10.0.0.0/8", "x"],
  ],
  ...[["https://a/"], ["https://a/", 5], ["ftp://a/"], ["a,b"]],
  ...[{}, { a: 1 }, { A: "b" }, { A: 5 }, { "api.example.com": { A: "b" } }, { a: ["b"] }],
];

/** These decide what is read besides, so each is given alone. */
const alone = ["configFile", "dataDir", "secretFile", "networksFile", "plansFile", "ratesFile"];
const paths = [
  "",
  " ",
  "x",
  " x ",
  "true",
  "\0",
  "ключ 🎁",
  "../etc",
  "/dev/null",
  "x".repeat(300),
];
const perNetwork = Object.values(networkSettings);

describe("the messages of settings", () => {
  let root = "";
  /** Deep enough that no path of a value leads out of the root. */
  let cwd = "";
  /** Short tables, which are read for each value. */
  let tables: Readonly<Record<string, string>>;

  before(() => {
    root = mkdtempSync(join(tmpdir(), "till-messages-"));
    cwd = join(root, "a", "b", "c");
    mkdirSync(cwd, { recursive: true });
    const shipped = (name: string) => new URL(`../../../config/${name}.yaml`, import.meta.url);
    const read = (name: string) =>
      parse(readFileSync(shipped(name), "utf8")) as Record<string, Record<string, unknown>>;
    const { networks = {} } = read("networks");
    const { billing, plans = {} } = read("plans");
    for (const [name, table] of Object.entries({
      networks: { networks: { tron: networks["tron"] } },
      plans: { billing, plans: Object.fromEntries(Object.entries(plans).slice(0, 1)) },
      rates: { pairs: { "EUR/USD": { fixed: "1.12" } } },
    })) {
      writeFileSync(join(cwd, `${name}.yaml`), JSON.stringify(table));
    }
    tables = {
      TILL_NETWORKS_FILE: join(cwd, "networks.yaml"),
      TILL_PLANS_FILE: join(cwd, "plans.yaml"),
      TILL_RATES_FILE: join(cwd, "rates.yaml"),
    };
  });
  after(() => {
    rmSync(root, { recursive: true });
  });

  type Given = Partial<Pick<Parameters<typeof loadConfig>[0], "env" | "flags">>;

  /** Returns the outcome of each given setting, by the name with which it was given: a message, or the shown value. */
  async function outcomes({ env = {}, flags = {} }: Given): Promise<ReadonlyMap<string, string>> {
    const { problems, settings: shown } = await loadConfig({
      mode: "cli",
      cwd,
      env: { ...tables, ...env },
      flags,
    })
      .then((loaded: LoadedConfig) => ({ problems: [], settings: loaded.settings }))
      .catch((error: unknown) => {
        if (error instanceof ConfigError) return error;
        throw error;
      });
    const found = new Map<string, string>(
      shown.map(({ value, origin }) => [origin.name, `= ${String(value)}`] as const),
    );
    for (const name of new Set(problems.map((problem) => problem.name))) {
      const own = problems.filter((problem) => problem.name === name);
      found.set(name, own.map(({ message }) => message).join(" | "));
    }
    return new Map([...found].map(([name, outcome]) => [name, outcome.replaceAll(root, "ROOT")]));
  }

  /** The values that have each outcome, by setting. */
  const recorded = new Map<string, Map<string, unknown[]>>();

  function record(name: string, value: unknown, outcome = "not given"): void {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const repeated = `not ${JSON.stringify(text.slice(0, 60))}`;
    // The same for all values of which the message repeats the beginning, and of which nothing is changed.
    const common = outcome.endsWith(repeated)
      ? outcome.slice(0, -repeated.length) + "not IT"
      : outcome === `= ${text}`
        ? "= IT"
        : outcome;
    const of = recorded.get(name) ?? new Map<string, unknown[]>();
    recorded.set(name, of.set(common, [...(of.get(common) ?? []), value]));
  }

  async function recordAll(): Promise<void> {
    const all = Object.values(settings);
    const together = all.filter(({ name }) => !alone.includes(name));
    const file = join(cwd, "given.yaml");
    async function inFile(value: unknown) {
      const under = (all: readonly { readonly name: string }[]) =>
        Object.fromEntries<unknown>(all.map(({ name }) => [name, value]));
      const content = { ...under(together), tron: under(perNetwork) };
      writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
      const found = await outcomes({ flags: { config: file } });
      return (key: string) => found.get(`${key} in ${file}`);
    }
    const named = [
      ...together.map(({ env, name, flag }) => ({ env, key: name, flag })),
      ...perNetwork.map((setting) => ({
        env: networkVariable("tron", setting),
        key: `tron.${setting.name}`,
        flag: null,
      })),
    ];
    for (const text of texts) {
      const env = Object.fromEntries(named.map((setting) => [setting.env, text]));
      const flags = named.flatMap(({ flag }) =>
        flag === null ? [] : [[flagProperty(flag), text] as const],
      );
      const byVariable = await outcomes({ env });
      const byFlag = await outcomes({ flags: Object.fromEntries(flags) });
      const byFile = await inFile(text);
      for (const { env: variable, key, flag } of named) {
        const outcome = byVariable.get(variable);
        record(variable, text, outcome);
        if (flag !== null && byFlag.get(flag) !== outcome) record(flag, text, byFlag.get(flag));
        if (byFile(key) !== outcome) record(key, text, byFile(key));
      }
    }
    for (const value of values) {
      const byFile = await inFile(value);
      for (const { key } of named) record(`${key} in YAML`, value, byFile(key));
    }
    for (const { env, name } of all) {
      if (!alone.includes(name)) continue;
      for (const text of paths)
        record(env, text, (await outcomes({ env: { [env]: text } })).get(env));
    }
  }

  it("are those that were recorded", async () => {
    await recordAll();
    // Settings of one kind say the same.
    const kinds = new Map<string, string[]>();
    for (const [name, said] of recorded) {
      const outcome = JSON.stringify(Object.fromEntries(said));
      kinds.set(outcome, [...(kinds.get(outcome) ?? []), name]);
    }
    const lines = [...kinds].map(([said, names]) => [names.join(" "), JSON.parse(said) as unknown]);
    const text = await formatted("messages.json", JSON.stringify(Object.fromEntries(lines)));
    if (isWriting) writeFileSync(recordedFile, text);
    expect(JSON.parse(text)).to.deep.equal(JSON.parse(readFileSync(recordedFile, "utf8")));
  });
});

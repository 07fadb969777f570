import type { NetworkSetting } from "./network-settings.ts";
import { networkSettings } from "./network-settings.ts";
import { wordsOf, type Setting, type Settings } from "./setting.ts";
import { settings } from "./settings.ts";

/** Generates docs/settings.md from the declarations of all settings. */
export function settingsReference(all: Settings = settings): string {
  const declared = Object.values(all);
  const groups = [...new Set(declared.map(({ group }) => group))];
  const sections = groups.flatMap((group) => [
    `## ${group}`,
    ...declared.filter((setting) => setting.group === group).map(describe),
    ...(group === "Networks" ? describeNetworkSettings() : []),
  ]);
  return `${[...introduction, ...sections].join("\n\n")}\n`;
}

const introduction = [
  "# Settings",
  "<!-- Made from src/platform/config by `npm run docs`; edit the declarations there. -->",
  "A setting is given by a flag, an environment variable or a file. Flags override the environment, which overrides the " +
    "file, which overrides the default. An empty variable counts as not set. Secrets have no flag, because every user of a " +
    "machine can read the arguments of its programs.",
  "The file is `till.yaml` in the data folder, or the one that `--config` names. `till init` writes the settings that it " +
    "is given, as flags or as answers at a terminal, to `till.yaml`; entries and comments that are there already stay:",
  [
    "```yaml",
    "port: 8443",
    "baseUrl: https://pay.example.com",
    "networks: [tron, ethereum]",
    "tron:",
    "  rpcUrls: [https://tron.internal:8545/jsonrpc, https://api.trongrid.io/jsonrpc]",
    "```",
  ].join("\n"),
  "A file that others can write is refused, because it decides where the store is and whom the server trusts: " +
    "`chmod go-w` repairs it.",
  "Relative paths in flags and variables start from the working directory; those in the file, from the file's folder.",
  "`till config show --origin` prints each setting with its origin, secrets masked. `till config check` reports " +
    "every problem, as does every start: with an invalid or misspelled setting nothing starts, and the exit code " +
    "is 78. It also warns of a network with a single provider, whose answers cannot be checked against another.",
  "Each server records its base URL, networks and version in the store when it starts. Links that a command shows begin " +
    "with the base URL of the running server, or of the last one, and commands issue on the networks that the running " +
    "server has enabled. A command whose own `TILL_BASE_URL`, `TILL_NETWORKS` or version is another says so on standard " +
    "error. `till config check` lists what differs from each running server, also after a change of the settings until " +
    "the server starts again; it exits with 0 if the settings are valid, and with `--same-as-server` with 6 if anything " +
    "differs. A server that starts beside another one with different settings logs a warning.",
];

function describe(setting: Setting): string {
  const { env, flag, name, inFile, schema, description, demo, example } = setting;
  const byDefault = setting.default === null ? "not set" : shown(setting.default);
  const inDemo = demo === null ? "" : `; in the demo ${shown(demo)}`;
  return entry(env, description, [
    ["Takes", wordsOf(schema).takes],
    ["Default", byDefault + inDemo],
    ["Flag", flag === null ? "none" : code(flag)],
    ["In the file", inFile ? code(name) : "no"],
    ["Example", example === null ? null : code(`${env}=${example}`)],
  ]);
}

function describeNetworkSettings(): string[] {
  const all = Object.values(networkSettings) as readonly NetworkSetting<unknown>[];
  return [
    "### Per network",
    "Each network of the table, enabled or not, has settings of its own. Their names contain its id in capitals: " +
      "`TILL_TRON_CONFIRMATIONS`, `TILL_ETHEREUM_CONFIRMATIONS`. The sandbox needs no providers.",
    ...all.map(({ name, envSuffix, schema, description, example }) =>
      entry(`TILL_<NETWORK>_${envSuffix}`, description, [
        ["Takes", wordsOf(schema).takes],
        ["Default", name === "rpcHeaders" ? "not set" : "the network table's"],
        ["Flag", "none"],
        ["In the file", `\`${name}\` below the network's id`],
        ["Example", code(`TILL_TRON_${envSuffix}=${example}`)],
      ]),
    ),
  ];
}

function entry(
  title: string,
  description: string,
  facts: readonly (readonly [string, string | null])[],
): string {
  const lines = facts.flatMap(([name, fact]) => (fact === null ? [] : [`- ${name}: ${fact}`]));
  return `### \`${title}\`\n\n${description}\n\n${lines.join("\n")}`;
}

function shown(value: string): string {
  return value === "" ? "none" : code(value);
}

function code(text: string): string {
  return `\`${text}\``;
}

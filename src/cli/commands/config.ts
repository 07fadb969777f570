import { formatMoney, tokenAsset } from "../../kernel/money/money.ts";
import { powerOfTen } from "../../kernel/money/ratio.ts";
import { openReadOnlyStore } from "../../compose/read-only-store.ts";
import { comparedSettings } from "../../compose/servers.ts";
import {
  differencesTo,
  wordDifference,
  type SettingDifference,
} from "../../features/admin/status/servers.ts";
import { systemClock } from "../../kernel/clock.ts";
import { defineProblem } from "../../kernel/errors.ts";
import { ConfigError, type Config, type ReportedSetting } from "../../platform/config/config.ts";
import { networkSettings, networkVariable } from "../../platform/config/network-settings.ts";
import { proxyWarnings } from "../../platform/forwarding.ts";
import { printTable } from "../terminal/output.ts";
import { loadSettings, type Flags } from "../settings.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** `till config show`: prints every effective setting, secrets masked, followed by the errors. */
export async function showSettings(terminal: Terminal, flags: Flags): Promise<void> {
  const withOrigin = flags["origin"] === true;
  try {
    const { settings } = await loadSettings(terminal, "cli", flags);
    await print(terminal, settings, withOrigin);
  } catch (error) {
    if (error instanceof ConfigError) await print(terminal, error.settings, withOrigin);
    throw error;
  }
}

/** The settings are valid, but a server runs with others. */
const SettingsDiffer = defineProblem({
  code: "settings_differ",
  status: 409,
  title: "A running server has other settings",
});

/**
 * `till config check`: reports every error that would keep the server from starting, faulty files of languages, without
 * which it would start, and its warnings. Reads the store if one is reachable, and prints in what running servers
 * differ; with --same-as-server, a difference is a failure.
 */
export async function checkSettings(terminal: Terminal, flags: Flags): Promise<void> {
  const { config, settings } = await loadSettings(terminal, "serve", flags);
  const { checkLanguages } = await import("../../features/checkout/page/language-file.ts");
  const problems = checkLanguages(config.languagesFolder);
  if (problems.length > 0) throw new ConfigError(problems, settings);
  const file = config.configFile ?? "no settings file";
  const { warnings: stored, differences } = await compareWithStore(config);
  const warnings = [...providerWarnings(config), ...dustWarnings(config), ...stored];
  const isFailed = flags["sameAsServer"] === true && differences.length > 0;
  if (terminal.form === "json") {
    const { configFile } = config;
    terminal.data(JSON.stringify({ ok: !isFailed, configFile, warnings, differences }));
  }
  terminal.talk(`The settings are valid (${file}).`);
  for (const warning of warnings) terminal.talk(`Warning: ${warning}`);
  const worded = differences.map((difference) => wordDifference(difference, "these settings"));
  if (!isFailed) {
    for (const line of worded) terminal.talk(line);
    return;
  }
  throw new SettingsDiffer(
    `${worded.join("\n")}\nStart the server again with these settings, or give the command those of the server.`,
  );
}

/** Warns about networks with a single provider, whose data cannot be compared with another's. */
function providerWarnings({ networks }: Config): string[] {
  return networks
    .filter(({ kind, endpoints }) => !kind.isSimulated && endpoints.length < 2)
    .map(
      ({ id, title }) =>
        `${title} has only one provider: a payment that it omits is found only if it reports it later. Add a second ` +
        `one in ${networkVariable(id, networkSettings.rpcUrls)}, or in the network table.`,
    );
}

/** Warns about tokens of which more than a tenth is dust: payers are never asked for less, also not for a small rest. */
function dustWarnings({ networks }: Config): string[] {
  return networks.flatMap(({ title, tokens }) =>
    tokens
      .filter(({ dust, decimals }) => dust * 10n > powerOfTen(decimals))
      .map(
        ({ symbol, dust, decimals }) =>
          `dust of ${symbol} on ${title} is ${formatMoney({ units: dust, asset: tokenAsset(symbol, decimals) })}, more than 0.1 of a token: ` +
          "smaller payments are ignored, and a payer who owes less is asked for that much. Choose a smaller dust.",
      ),
  );
}

/**
 * Reads from the store whether a proxy seems to be in use, which default wallets are missing, and in what the running
 * servers differ.
 */
async function compareWithStore(config: Config): Promise<{
  readonly warnings: readonly string[];
  readonly differences: readonly SettingDifference[];
}> {
  // Without a reachable store, the warnings are based on the settings alone.
  const store = await openReadOnlyStore(config, systemClock).catch(() => null);
  if (store === null) {
    return { warnings: await proxyWarnings(config, null, systemClock.now()), differences: [] };
  }
  try {
    const own = comparedSettings(config, config.baseUrl ?? "");
    return {
      warnings: [...(await store.proxyWarnings(config)), ...(await store.walletWarnings(config))],
      differences: differencesTo(own, await store.servers()),
    };
  } finally {
    await store.close();
  }
}

async function print(
  terminal: Terminal,
  settings: readonly ReportedSetting[],
  withOrigin: boolean,
): Promise<void> {
  switch (terminal.form) {
    case "json": {
      const data = settings.map(({ origin, ...setting }) =>
        withOrigin ? { ...setting, origin } : setting,
      );
      terminal.data(JSON.stringify({ data, nextCursor: null }));
      return;
    }
    case "quiet":
      for (const { name } of settings) terminal.data(name);
      return;
    case "people":
      await printTable(
        terminal,
        withOrigin ? ["SETTING", "VALUE", "FROM"] : ["SETTING", "VALUE"],
        settings.map(({ name, value, origin }) => [
          name,
          value === null || value === "" ? "-" : value,
          ...(withOrigin ? [origin.name === "" ? origin.source : origin.name] : []),
        ]),
      );
  }
}

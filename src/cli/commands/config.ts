import { openReadOnlyStore } from "../../compose/read-only-store.ts";
import { systemClock } from "../../kernel/clock.ts";
import {
  ConfigError,
  networkSettings,
  networkVariable,
  type Config,
  type ReportedSetting,
} from "../../platform/config/index.ts";
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

/**
 * `till config check`: reports every error that would keep the server from starting, and its warnings. Reads the store
 * if one is reachable.
 */
export async function checkSettings(terminal: Terminal, flags: Flags): Promise<void> {
  const { config } = await loadSettings(terminal, "serve", flags);
  const file = config.configFile ?? "no settings file";
  const warnings = [...providerWarnings(config), ...(await proxyWarningsOf(config))];
  if (terminal.form === "json") {
    terminal.data(JSON.stringify({ ok: true, configFile: config.configFile, warnings }));
    return;
  }
  terminal.talk(`The settings are valid (${file}).`);
  for (const warning of warnings) terminal.talk(`Warning: ${warning}`);
}

/** Warns about networks with a single provider, whose data cannot be compared with another's. */
function providerWarnings({ networks }: Config): string[] {
  return networks
    .filter(({ kind, endpoints }) => !kind.isSimulated && endpoints.length < 2)
    .map(
      ({ id, title }) =>
        `${networkVariable(id, networkSettings.rpcUrls)} configures only one provider for ${title}: a payment that it ` +
        "omits is found only if it reports it later. Add a second provider.",
    );
}

async function proxyWarningsOf(config: Config): Promise<readonly string[]> {
  const now = systemClock.now();
  if (config.trustProxy.length > 0) return [];
  // Without a reachable store, the warnings are based on the settings alone.
  const store = await openReadOnlyStore(config, systemClock).catch(() => null);
  if (store === null) return proxyWarnings(config, null, now);
  try {
    return await store.proxyWarnings(config);
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

import { ConfigError, type ReportedSetting } from "../../platform/config/index.ts";
import { printTable } from "../output.ts";
import { loadSettings, type Flags } from "../settings.ts";
import type { Terminal } from "../terminal.ts";

/** `till config show`: every setting as it counts, secrets masked. What is wrong is told after it. */
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

/** `till config check`: everything that would keep the server from starting, at once. */
export async function checkSettings(terminal: Terminal, flags: Flags): Promise<void> {
  const { config } = await loadSettings(terminal, "serve", flags);
  const file = config.configFile ?? "no file of settings";
  if (terminal.form === "json")
    terminal.data(JSON.stringify({ ok: true, configFile: config.configFile }));
  else terminal.talk(`The settings are right (${file}).`);
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

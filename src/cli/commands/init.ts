import { parseBody } from "../../api/declare/request.ts";
import { createApp, storeName } from "../../compose/index.ts";
import { InitializeRequest, presentInstalled } from "../../features/admin/index.ts";
import { requireStrong } from "../../features/auth/index.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { createLogger } from "../../platform/logger/index.ts";
import { createPasswords } from "../../platform/secrets/passwords.ts";
import { operator } from "../operator.ts";
import { printLines } from "../terminal/output.ts";
import { readNewPassword, type PasswordSource } from "../terminal/password.ts";
import { askOptional, askText } from "../terminal/prompts.ts";
import { parseReceiver, receiverFault, setReceiver } from "../receive-wallet.ts";
import { missing, UsageError } from "../refusals.ts";
import { loadStoreSettings, logLevelOf } from "../settings.ts";
import type { Terminal } from "../terminal/terminal.ts";

interface InitFlags extends PasswordSource, Readonly<Record<string, unknown>> {
  readonly adminEmail?: string;
  readonly adminName?: string;
  readonly organization?: string;
  readonly receiveWallet?: string;
  readonly receiveToken?: string;
}

/**
 * `till init`: creates the data folder, the secret and the store; then, in one transaction, the platform organization
 * and its admin; then, if given, the wallet that receives the platform's payments. All input is validated before
 * anything is created. If a run is killed, the next one completes it.
 */
export async function initialize(terminal: Terminal, flags: InitFlags): Promise<void> {
  const loaded = await loadStoreSettings(terminal, "serve", flags);
  const { config } = loaded;
  // Refuses wrong flags before the first prompt.
  const given =
    flags.receiveWallet === undefined
      ? null
      : parseReceiver(config.networks, flags.receiveWallet, flags.receiveToken);
  if (given === null && flags.receiveToken !== undefined) {
    throw new UsageError("Give --receive-wallet together with --receive-token.");
  }
  const { input, password } = await readInput(terminal, flags);
  await requireStrong(createPasswords(), password);
  const receiver = given ?? (await askReceiver(terminal, config.networks));
  const logger = createLogger({ level: logLevelOf(terminal, loaded) });
  const app = await createApp(config, "initialize", { logger });
  try {
    const context = { actor: operator(), requestId: terminal.requestId, ip: null };
    const installed = await app.installation.initialize(context, { ...input, password });
    const shown = presentInstalled(installed);
    if (receiver !== null) await setReceiver(app, context, installed.organization.id, receiver);
    switch (terminal.form) {
      case "json":
        terminal.data(JSON.stringify(shown));
        return;
      case "quiet":
        terminal.data(shown.organization.id);
        return;
      case "people":
        await printLines(terminal, [
          ["Store", storeName(config)],
          ["Organization", `${shown.organization.name} (${shown.organization.id})`],
          ["Admin", `${shown.user.email} (${shown.user.id})`],
          ...(receiver === null
            ? []
            : [
                ["Paid at", `a wallet on ${receiver.network}, in ${receiver.tokenSymbol}`] as const,
              ]),
        ]);
        if (receiver === null) {
          terminal.talk("To charge for plans, set a wallet later with till billing receive-wallet");
        }
        terminal.talk("Next: till serve");
    }
  } finally {
    await app.close();
  }
}

/** Asks for the receive wallet; null without a terminal or if the user skips the question. */
async function askReceiver(terminal: Terminal, networks: readonly Network[]) {
  const question =
    "Wallet that receives payments for your plans, as network:address (Enter to set it later)";
  const answer = await askOptional(terminal, question, (text) => receiverFault(networks, text));
  return answer === null ? null : parseReceiver(networks, answer);
}

async function readInput(terminal: Terminal, flags: InitFlags) {
  requireFlags(terminal, flags);
  const input = parseBody(InitializeRequest, {
    adminEmail:
      flags.adminEmail ?? (await askText(terminal, "--admin-email", "Your e-mail address")),
    adminName: flags.adminName ?? (await askText(terminal, "--admin-name", "Your name")),
    organization:
      flags.organization ??
      (await askText(terminal, "--organization", "The organization that runs this Till")),
  }) as { adminEmail: string; adminName: string; organization: string };
  return { input, password: await readNewPassword(terminal, "Password of the admin", flags) };
}

/** Reports all missing flags at once. */
function requireFlags(terminal: Terminal, flags: InitFlags): void {
  if (terminal.isInteractive) return;
  const needed = [
    ["--admin-email", flags.adminEmail],
    ["--admin-name", flags.adminName],
    ["--organization", flags.organization],
    ["--password-stdin or --password-file", flags.passwordStdin ?? flags.passwordFile],
  ] as const;
  const absent = needed.filter(([, value]) => value === undefined).map(([flag]) => flag);
  if (absent.length > 0) throw missing(...absent);
}

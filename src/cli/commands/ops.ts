import { section, type Column } from "../../http/declare/command.ts";
import { presentOperationsStatus } from "../../features/admin/status/stored-status.ts";
import { systemClock } from "../../kernel/clock.ts";
import { printRecord } from "../terminal/output.ts";
import { findCommandStore, loadStoreSettings, logLevelOf, type Flags } from "../settings.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { Unhealthy } from "../failures/refusals.ts";
import { watch } from "../terminal/watch.ts";

type Shown = ReturnType<typeof presentOperationsStatus>;

/**
 * `till ops status`: prints the status that the servers last recorded, with its age, without loading the whole program.
 * With --probe, this process runs the checks itself. Exits with a failure unless the status is ok.
 */
export async function operationsStatus(terminal: Terminal, flags: Flags): Promise<void> {
  const source =
    flags["probe"] === true
      ? await openProbe(terminal, flags)
      : await openRecorded(terminal, flags);
  try {
    const print = async (screen: Terminal) => {
      const shown = await source.read();
      await printRecord(screen, shown, shape);
      return shown.infrastructure.status;
    };
    if (flags["watch"] === true) {
      await watch(terminal, print);
      return;
    }
    const status = await print(terminal);
    if (status !== "ok")
      throw new Unhealthy(`The installation is ${status}. See the checks above.`);
  } finally {
    await source.close();
  }
}

interface StatusSource {
  read(): Promise<Shown>;
  close(): Promise<void>;
}

async function openRecorded(terminal: Terminal, flags: Flags): Promise<StatusSource> {
  const { openReadOnlyStore } = await import("../../compose/read-only-store.ts");
  const store = await openReadOnlyStore(await findCommandStore(terminal, flags), systemClock);
  return {
    read: async () => presentOperationsStatus(await store.operationsStatus()),
    close: () => store.close(),
  };
}

async function openProbe(terminal: Terminal, flags: Flags): Promise<StatusSource> {
  const { createApp } = await import("../../compose/app.ts");
  const { readOperationsStatus } = await import("../../features/admin/status/operations-status.ts");
  const { createLogger } = await import("../../platform/logger/index.ts");
  const { operator } = await import("../operator.ts");
  const loaded = await loadStoreSettings(terminal, "cli", flags);
  const logger = createLogger({ level: logLevelOf(terminal, loaded) });
  const app = await createApp(loaded.config, "use", { logger });
  const context = { actor: operator(), requestId: terminal.requestId, ip: null };
  return {
    read: async () => presentOperationsStatus(await readOperationsStatus(app, context)),
    async close() {
      for (const note of app.servers.notes()) terminal.talk(note);
      await app.close();
    },
  };
}

const columns: readonly Column<Shown>[] = [
  { title: "Installation", value: (one) => one.infrastructure.status },
  "checkedAt",
  "auditHead",
];

const shape = {
  columns,
  identify: (shown: unknown) => (shown as Shown).infrastructure.status,
  sections(shown: unknown) {
    const { infrastructure, providers, queues, webhooks } = shown as Shown;
    return [
      section({
        title: "Checks",
        items: Object.entries(infrastructure.checks).map(([check, status]) => ({
          check,
          status,
          message: infrastructure.messages[check] ?? "",
        })),
        columns: ["check", "status", "message"],
      }),
      section({
        title: "Networks",
        items: providers,
        columns: ["network", "provider", "status", "message"],
      }),
      section({
        title: "Queues",
        items: queues,
        columns: ["queue", "waiting", "active", "delayed", "failed"],
      }),
      section({
        title: "Webhooks",
        items: [webhooks],
        columns: ["pending", "inProgress", ["failed", "Retrying"], "deadLetter"],
      }),
    ];
  },
};

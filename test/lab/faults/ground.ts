// A shop behind one or several `till serve`, whose processes, store and clock a proof disturbs.
import { closeSync, openSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../src/platform/database/open.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { startPostgres, type PostgresServer } from "../../support/store/postgres.ts";
import { startReceiver, type Receiver } from "../../support/receiver.ts";
import type { RunningServer } from "../../support/programs/program.ts";
import { openShop, type Shop } from "../shop.ts";

export type Dialect = "sqlite" | "postgres";

/** The event types to which the shop's webhook endpoint subscribes. */
export const toldTypes = ["invoice.created", "invoice.paid", "payment.detected"];

export interface Ground {
  readonly name: string;
  readonly dialect: Dialect;
  readonly shop: Shop;
  readonly receiver: Receiver;
  /** Null on SQLite. */
  readonly postgres: PostgresServer | null;
  /** The running servers; the load takes turns between them. */
  readonly servers: RunningServer[];
  /** Starts another server, whose log goes to the given file. */
  serve(settings?: Readonly<Record<string, string>>, logFile?: string): Promise<RunningServer>;
  /** Opens the store beside the servers. */
  openStore(): Promise<Database>;
  /** Returns the end of all logs, to explain a failure. */
  logs(): string;
  end(): Promise<void>;
}

export interface GroundOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** Starts PostgreSQL, for proofs that need one of their own. */
  readonly startPostgres?: () => Promise<PostgresServer>;
}

/** Opens a shop with one server, which has told its endpoint about a first invoice. */
export async function openGround(
  name: string,
  dialect: Dialect,
  options: GroundOptions = {},
): Promise<Ground> {
  const postgres =
    dialect === "postgres"
      ? await (options.startPostgres ?? (() => startPostgres({ fsync: true })))()
      : null;
  const receiver = await startReceiver();
  const settings = {
    TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32",
    TILL_WEBHOOK_RATE_PER_SECOND: "0",
    ...options.settings,
  };
  const place = postgres === null ? undefined : { url: postgres.url("postgres") };
  const shop = await openShop(settings, place);
  const { installation } = shop;
  const storeFile = join(installation.env["TILL_DATA_DIR"] ?? "", "till.db");
  const logFolder = await mkdtemp(join(tmpdir(), "till-faults-"));
  const logFiles: string[] = [];
  await shop.run(["webhook", "add", receiver.url, "--event-types", toldTypes.join(",")]);
  await shop.issue(1);
  // The server of the shop has no log file.
  await shop.server.stop();
  const servers: RunningServer[] = [];

  async function serve(more: Readonly<Record<string, string>> = {}, logFile?: string) {
    const file = logFile ?? join(logFolder, `server-${String(logFiles.length)}.log`);
    logFiles.push(file);
    const log = openSync(file, "a");
    try {
      return await installation.serve(more, log);
    } catch (error) {
      throw new Error(`the server did not start: ${endOf(file)}`, { cause: error });
    } finally {
      closeSync(log);
    }
  }
  servers.push(await serve());

  return {
    name,
    dialect,
    shop,
    receiver,
    postgres,
    servers,
    serve,
    openStore: () => openDatabase(place ?? { sqliteFile: storeFile }),
    logs: () => logFiles.slice(-2).map(endOf).join("\n"),
    async end() {
      await installation.remove();
      await receiver.close();
      await postgres?.stop();
      await rm(logFolder, { recursive: true, force: true });
    },
  };
}

function endOf(file: string): string {
  try {
    return readFileSync(file, "utf8").slice(-2_000);
  } catch {
    return "no log";
  }
}

/** True while the process of a server runs. */
export function isAlive({ child }: RunningServer): boolean {
  return child.exitCode === null && child.signalCode === null;
}

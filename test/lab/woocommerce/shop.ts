import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { whenThisProcessIsGone, type Guard } from "../../support/programs/guard.ts";
import { freePort } from "../../support/programs/free-port.ts";
import { until } from "../../support/until.ts";
import type { MariaDb } from "./mariadb.ts";
import { copyFolder, copyParts, type Pair } from "./parts.ts";
import { giveAway, program, unprivileged } from "./unprivileged.ts";

export const storages = ["posts", "hpos"] as const;
export type Storage = (typeof storages)[number];

export const checkouts = ["classic", "block"] as const;
export type CheckoutKind = (typeof checkouts)[number];

/** The admin of every shop. */
export const admin = { name: "admin", password: "adminpass" } as const;

const own = (name: string) => fileURLToPath(new URL(`site/${name}`, import.meta.url));

/** The folder of the plug-in: PROVE_PLUGIN, or the one that Till ships. */
export const pluginFolder =
  process.env["PROVE_PLUGIN"] ??
  fileURLToPath(new URL("../../../docs/integrations/woocommerce/till", import.meta.url));

/** Complaints that WooCommerce 8.2 and WordPress 6.4 cause without the plug-in. */
const complaintsOfOlderVersions = [
  // They were written before the PHP that runs them declared some of their habits outdated.
  /PHP Deprecated: .* in \S+\/(?:plugins\/woocommerce|wp-includes|wp-admin)\//,
  // The page with the checkout block shows a finished order, whose cart is empty.
  /Undefined array key "\/wc\/store\/v1\/checkout" in \S+\/Hydration\.php/,
];

/** As many as a small host has. */
const phpWorkers = 8;

/** An order as the shop's employees see it. */
export interface ShopOrder {
  readonly status: string;
  readonly total: string;
  readonly currency: string;
  readonly method: string;
  readonly transaction: string;
  readonly refunded: number;
  readonly receivedUrl: string;
  readonly payUrl: string;
  readonly editUrl: string;
  readonly notes: readonly string[];
}

/** An e-mail of WooCommerce about an order, such as `new_order`. */
export interface Mail {
  readonly kind: string;
  readonly order: number;
}

/** A WordPress with WooCommerce in its own folder and database. */
export interface Shop {
  readonly pair: Pair;
  readonly storage: Storage;
  readonly url: string;
  readonly folder: string;
  /** Calls a function of site/control.php. */
  control<T>(name: string, ...given: readonly unknown[]): Promise<T>;
  order(id: number): Promise<ShopOrder>;
  mails(): readonly Mail[];
  /** Returns the complaints of PHP and WordPress since the last call. */
  complaints(): string;
  /** Copies the plug-in to the shop again. */
  installPlugin(): void;
  /** Ends PHP, and keeps files and data. */
  halt(): Promise<void>;
  start(): Promise<void>;
  remove(): Promise<void>;
}

export interface ShopOptions {
  readonly pair: Pair;
  readonly storage: Storage;
  /** The folder of the plug-in. */
  readonly plugin?: string;
  /** False to leave the plug-in to the case. */
  readonly isInstalled?: boolean;
  /** True to use the plug-in's folder itself, so that changes take effect at once. */
  readonly isLinked?: boolean;
  /** A shop whose files and data are copied, as when a shop is moved to a test server. */
  readonly copyOf?: Shop;
  readonly port?: number;
}

let made = 0;

/** Sets up a shop below `parent`, with everything but the settings of the plug-in, and starts it. */
export async function openShop(
  parent: string,
  database: MariaDb,
  {
    pair,
    storage,
    plugin = pluginFolder,
    isInstalled = true,
    isLinked = false,
    copyOf,
    port,
  }: ShopOptions,
): Promise<Shop> {
  made += 1;
  const name = `shop${String(made)}`;
  const folder = join(parent, name);
  const content = join(folder, "wp-content");
  const url = `http://127.0.0.1:${String(port ?? (await freePort()))}`;
  const env = {
    PATH: process.env["PATH"] ?? "",
    PROVE_DATABASE: name,
    PROVE_SOCKET: database.socket,
    PROVE_URL: url,
  };
  if (copyOf === undefined) {
    await copyParts(pair, folder);
    copyFileSync(own("wp-config.php"), join(folder, "wp-config.php"));
    mkdirSync(join(content, "mu-plugins"));
    copyFileSync(own("control.php"), join(content, "mu-plugins/control.php"));
    database.create(name);
  } else {
    await copyFolder(copyOf.folder, folder);
    database.create(name, nameOf(copyOf));
  }
  const target = join(content, "plugins/till");
  const installPlugin = () => {
    if (isLinked) symlinkSync(plugin, target);
    else cpSync(plugin, target, { recursive: true });
    giveAway(content);
  };
  if (copyOf === undefined && isInstalled) installPlugin();
  giveAway(folder);

  const flags = ["memory_limit=512M", "opcache.enable_cli=1", "opcache.revalidate_freq=0"];
  const settings = [...flags, `error_log=${join(content, "debug.log")}`].flatMap((each) => [
    "-d",
    each,
  ]);
  const php = program("php", "php-cli");
  if (copyOf === undefined) {
    for (const step of [["wordpress", pair.theme], ["woocommerce"], ["shop"]]) {
      const { stdout } = await promisify(execFile)(
        php,
        [...settings, own("install.php"), folder, ...step],
        {
          cwd: folder,
          env,
          ...unprivileged,
          encoding: "utf8",
        },
      );
      if (!stdout.endsWith("done")) throw new Error(`step ${step.join(" ")}: ${stdout}`);
    }
  }

  let child: ChildProcess | null = null;
  let guard: Guard | null = null;

  async function start(): Promise<void> {
    const log = openSync(join(parent, `${name}.log`), "a");
    child = spawn(php, [...settings, "-S", new URL(url).host, "-t", folder, own("router.php")], {
      cwd: folder,
      env: { ...env, PHP_CLI_SERVER_WORKERS: String(phpWorkers) },
      ...unprivileged,
      // Its workers are children of its own, which end with its group.
      detached: true,
      stdio: ["ignore", log, log],
    });
    guard = whenThisProcessIsGone('kill -s KILL -- "-$1"', String(child.pid));
    const answers = () =>
      fetch(`${url}/license.txt`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until("the shop", answers, (does) => does);
  }

  async function halt(): Promise<void> {
    if (child?.pid === undefined) return;
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      process.kill(-child.pid, "SIGKILL");
      await ended;
    }
    guard?.dismiss();
    child = null;
  }

  async function control<T>(called: string, ...given: readonly unknown[]): Promise<T> {
    const answer = await fetch(`${url}/prove-control/`, {
      method: "POST",
      body: JSON.stringify({ do: called, with: given }),
    });
    const text = await answer.text();
    let said: { result?: T; failure?: string };
    try {
      said = JSON.parse(text) as typeof said;
    } catch (cause) {
      throw new Error(`${called}: ${String(answer.status)} ${text.slice(0, 500)}`, { cause });
    }
    if (said.failure !== undefined) throw new Error(`${called}: ${said.failure}`);
    return said.result as T;
  }

  const debugLog = join(content, "debug.log");
  let seen = 0;
  const shop: Shop = {
    pair,
    storage,
    url,
    folder,
    control,
    order: (id) => control<ShopOrder>("order", id),
    mails() {
      const file = join(content, "mails.jsonl");
      if (!existsSync(file)) return [];
      const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Mail);
    },
    complaints() {
      const all = existsSync(debugLog) ? readFileSync(debugLog, "utf8") : "";
      const added = all.slice(seen);
      seen = all.length;
      const isOwn = (line: string) => !complaintsOfOlderVersions.some((each) => each.test(line));
      return added
        .split("\n")
        .filter((line) => line !== "" && isOwn(line))
        .join("\n");
    },
    installPlugin,
    halt,
    start,
    async remove() {
      await halt();
      database.sql(`DROP DATABASE ${name}`);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await start();
  if (copyOf === undefined) {
    await control("storage", storage === "hpos");
    if (isInstalled) await control("activate", true);
  }
  const isHpos = await control<boolean>("is_hpos");
  if (isHpos !== (storage === "hpos")) throw new Error(`the orders are not in ${storage}`);
  // WordPress complains about WooCommerce's own installation.
  shop.complaints();
  return shop;
}

function nameOf({ folder }: Shop): string {
  return folder.slice(folder.lastIndexOf("/") + 1);
}

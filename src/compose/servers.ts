import {
  differencesTo,
  knownServers,
  recordEnd,
  recordServer,
  type SettingDifference,
  type ServerSettings,
} from "../features/admin/read-only.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Config } from "../platform/config/index.ts";
import type { Database } from "../platform/database/index.ts";
import { systemContext } from "../platform/database/system-context.ts";
import { programVersion } from "../platform/version.ts";

/** The servers of a store, as seen by this process, which may be one of them. */
export interface Serving {
  /** The name of this process in the store. */
  readonly name: string;
  /** Returns the URL with which links begin, without a trailing slash. */
  readonly baseUrl: () => string;
  /** Returns the address on which this process listens. */
  readonly listening: () => string;
  readonly listensAt: (url: string) => void;
  /** Takes the base URL of the running or last server, for the links of a command. */
  follow(): Promise<void>;
  /** Records this process as a server. */
  begin(): Promise<void>;
  /** Records the end of this server, if it began. */
  end(): Promise<void>;
  /** Returns the settings in which this process differs from other running servers. */
  differences(): Promise<readonly SettingDifference[]>;
  /** One line for the operator if a link was shown that does not begin with this process's own base URL. */
  linkNote(): string | null;
}

const context = systemContext("servers");

/** The settings by which servers differ. */
type ServingConfig = Pick<Config, "host" | "port" | "baseUrl" | "databaseUrl"> & {
  readonly networks: readonly { readonly id: string }[];
};

/** The settings of a process that servers record and compare. */
export function comparedSettings(
  config: ServingConfig,
  baseUrl: string,
): Omit<ServerSettings, "startedAt"> {
  return {
    version: programVersion(),
    baseUrl,
    isBaseUrlSet: config.baseUrl !== null,
    networks: config.networks.map(({ id }) => id),
  };
}

export function servingOf(
  config: ServingConfig,
  db: Database,
  { clock, name }: { readonly clock: Clock; readonly name: string },
): Serving {
  let listening = `http://${config.host}:${String(config.port)}`;
  let followed: string | null = null;
  let hasBegun = false;
  let hasShownOther = false;
  const own = () => config.baseUrl ?? listening;
  return {
    name,
    baseUrl() {
      if (followed === null) return own();
      hasShownOther ||= config.baseUrl !== null && config.baseUrl !== followed;
      return followed;
    },
    listening: () => listening,
    listensAt(url) {
      listening = url;
    },
    async follow() {
      const [server] = await knownServers(db, clock.now());
      followed = server?.settings.baseUrl ?? null;
    },
    async begin() {
      const settings = { startedAt: clock.now(), ...comparedSettings(config, own()) };
      // A SQLite store has only one server.
      await recordServer({ db, clock }, context, name, settings, config.databaseUrl === null);
      hasBegun = true;
    },
    async end() {
      // A store that fails now must not keep the server from ending; its row then counts as running for a minute.
      if (hasBegun) await recordEnd({ db, clock }, context, name).catch(() => undefined);
      hasBegun = false;
    },
    async differences() {
      const others = await knownServers(db, clock.now());
      return differencesTo(
        comparedSettings(config, own()),
        others.filter(({ server }) => server !== name),
      );
    },
    linkNote: () =>
      hasShownOther
        ? `Links begin with ${followed ?? ""}, as those of the server do; this command's TILL_BASE_URL is ${own()}.`
        : null,
  };
}

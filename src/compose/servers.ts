import {
  differencesTo,
  knownServers,
  recordEnd,
  recordServer,
  type KnownServer,
  type ServerSettings,
  type SettingDifference,
} from "../features/admin/status/servers.ts";
import type { Clock } from "../kernel/clock.ts";
import { unlistedNote, type Config, type EnabledNetworks } from "../platform/config/config.ts";
import { systemContext, type Database } from "../platform/database/database.ts";
import { programVersion } from "../platform/files.ts";

/** The servers of a store, as seen by this process, which may be one of them. */
export interface Serving {
  /** The name of this process in the store. */
  readonly name: string;
  /** Returns the URL with which links begin, without a trailing slash. */
  readonly baseUrl: () => string;
  /** Returns the address on which this process listens. */
  readonly listening: () => string;
  readonly listensAt: (url: string) => void;
  /** Takes the base URL of the running or last server, and the networks of the running one, for a command. */
  follow(): Promise<void>;
  /** Returns the networks that the followed server has enabled, with this process's settings of each; else its own. */
  networks(own: Pick<Config, "networks" | "knownNetworks">): EnabledNetworks;
  /** Records this process as a server. */
  begin(): Promise<void>;
  /** Records the end of this server, if it began. */
  end(): Promise<void>;
  /** Returns the settings in which this process differs from other running servers. */
  differences(): Promise<readonly SettingDifference[]>;
  /**
   * Lines for the operator, one for each of the server's settings that differs from this command's own and that it
   * used: the base URL of a shown link, and the networks; and if the running server has another version.
   */
  notes(): readonly string[];
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
  let followed: KnownServer | null = null;
  let ownNetworks: string | null = null;
  let unlisted: readonly string[] = [];
  let hasBegun = false;
  let hasShownOther = false;
  const own = () => config.baseUrl ?? listening;
  return {
    name,
    baseUrl() {
      if (followed === null) return own();
      const { baseUrl } = followed.settings;
      hasShownOther ||= config.baseUrl !== null && config.baseUrl !== baseUrl;
      return baseUrl;
    },
    listening: () => listening,
    listensAt(url) {
      listening = url;
    },
    async follow() {
      const [server] = await knownServers(db, clock.now());
      followed = server ?? null;
    },
    networks({ networks, knownNetworks }) {
      // While no server runs, the next one will have the networks of the settings.
      if (followed?.isRunning !== true) return { networks, knownNetworks, unlisted };
      const ids = namesOf(networks);
      const theirs = followed.settings.networks;
      if (ids === namesOf(theirs.map((id) => ({ id })))) {
        return { networks, knownNetworks, unlisted };
      }
      ownNetworks = ids;
      const known = new Map(knownNetworks.map((network) => [network.id, network]));
      unlisted = theirs.filter((id) => !known.has(id));
      return { networks: theirs.flatMap((id) => known.get(id) ?? []), knownNetworks, unlisted };
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
    notes() {
      if (followed === null) return [];
      const notes = notesOn(followed, hasShownOther ? own() : null, ownNetworks);
      return unlisted.length === 0 ? notes : [...notes, unlistedNote(unlisted)];
    },
  };
}

/** Returns the notes about the server. `ownBaseUrl` and `ownNetworks` are null unless the server's were used instead. */
function notesOn(
  { isRunning, settings }: KnownServer,
  ownBaseUrl: string | null,
  ownNetworks: string | null,
): readonly string[] {
  const { baseUrl, version } = settings;
  const networks = namesOf(settings.networks.map((id) => ({ id })));
  const notes: string[] = [];
  if (ownBaseUrl !== null) {
    notes.push(
      `Links begin with ${baseUrl}, as those of the server do; this command's TILL_BASE_URL is ${ownBaseUrl}.`,
    );
  }
  if (ownNetworks !== null) {
    notes.push(
      `The running server's networks count: ${networks}; this command's TILL_NETWORKS is ${ownNetworks}.`,
    );
  }
  if (isRunning && version !== programVersion()) {
    notes.push(`The running server is Till ${version}, this command ${programVersion()}.`);
  }
  return notes;
}

/** Returns the ids of networks, sorted, as text. */
function namesOf(networks: readonly { readonly id: string }[]): string {
  return networks
    .map(({ id }) => id)
    .sort()
    .join(",");
}

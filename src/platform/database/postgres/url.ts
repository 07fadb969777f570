// Addresses of PostgreSQL as libpq reads them: https://www.postgresql.org/docs/current/libpq-connect.html. Neither Node's
// URL nor pg knows several hosts. This file imports nothing, because commands that only locate the store load it.

/** A server's host name, address, or folder of its socket (which begins with `/`), with its port. */
interface Host {
  /** Null for pg's own default: `PGHOST`, or else localhost. */
  readonly host: string | null;
  /** Null for pg's own default: `PGPORT`, or else 5432. */
  readonly port: number | null;
}

interface PostgresUrl {
  readonly user: string | null;
  readonly password: string | null;
  readonly database: string | null;
  /** At least one. The store is on the one that is not in recovery. */
  readonly hosts: readonly [Host, ...Host[]];
  /** The parameters of the query, without those that are above. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Thrown for an address that cannot be read. The message continues the setting's name and has no part of the address. */
export class InvalidPostgresUrl extends Error {
  override readonly name = "InvalidPostgresUrl";
}

const form = "a URL such as postgres://user:password@host:5432/till";
const portMax = 65_535;

/** Parameters that would change the server without Till's knowledge. */
const refusedParameters: Readonly<Record<string, string>> = {
  hostaddr: "write the address as the host",
  service: "write the service's host, port and database",
};
/** All of them mean the server that takes writes, because Till needs no other. */
const primaryWords = new Set(["any", "read-write", "primary"]);

/**
 * Parses an address, with any number of hosts.
 * @throws InvalidPostgresUrl
 */
export function parsePostgresUrl(given: string): PostgresUrl {
  const [, rest] = /^postgres(?:ql)?:\/\/(.*)$/is.exec(given.trim()) ?? [];
  if (rest === undefined) throw new InvalidPostgresUrl(`must be ${form}`);
  refuseUnencoded(rest);
  const [beforeQuery, query = ""] = split(rest, rest.indexOf("?"));
  const [authority, path] = split(beforeQuery, beforeQuery.indexOf("/"));
  const hostAt = authority.lastIndexOf("@") + 1;
  const credentials = authority.slice(0, Math.max(0, hostAt - 1));
  const hostList = authority.slice(hostAt);
  const [user, password] = split(credentials, credentials.indexOf(":"));
  const parameters = parametersOf(query);
  const taken = (name: string): string | null => {
    const value = parameters.get(name);
    parameters.delete(name);
    return value === undefined || value === "" ? null : value;
  };
  const attributes = taken("target_session_attrs");
  if (attributes !== null && !primaryWords.has(attributes)) {
    throw new InvalidPostgresUrl(
      "must have read-write or primary as target_session_attrs, or leave it out: Till needs the server that takes writes",
    );
  }
  const named = taken("user");
  const secret = taken("password");
  const database = taken("dbname");
  return {
    user: named ?? (user === "" ? null : decoded(user)),
    password: secret ?? (password === undefined || password === "" ? null : decoded(password)),
    database: database ?? (path === undefined || path === "" ? null : decoded(path)),
    hosts: hostsOf(hostList, taken("host"), taken("port")),
    parameters,
  };
}

/**
 * Returns the address of each host, in order, as pg and Sequelize read it.
 * @throws InvalidPostgresUrl
 */
export function urlsOfHosts(given: string): readonly [string, ...string[]] {
  const { user, password, database, hosts, parameters } = parsePostgresUrl(given);
  const secret = password === null ? "" : `:${encodeURIComponent(password)}`;
  const credentials =
    user === null && password === null ? "" : `${encodeURIComponent(user ?? "")}${secret}@`;
  const urlOf = ({ host, port }: Host) => {
    const query = new URLSearchParams([...parameters]);
    const isFolder = host?.startsWith("/") === true;
    if (isFolder) query.set("host", host);
    // Node's URL allows no port without a host.
    if (port !== null && host === null) query.set("port", String(port));
    const search = query.size === 0 ? "" : `?${query.toString().replaceAll("+", "%20")}`;
    const name = isFolder ? "localhost" : host?.includes(":") === true ? `[${host}]` : (host ?? "");
    const at = port === null || host === null ? "" : `:${String(port)}`;
    const path = encodeURI(database ?? "").replace(/[?#]/g, encodeURIComponent);
    return `postgres://${credentials}${name}${at}/${path}${search}`;
  };
  const [first, ...others] = hosts;
  return [urlOf(first), ...others.map(urlOf)];
}

/** Returns the hosts and the database, such as `postgres://db-1,db-2:5433/till`, for messages: no credentials. */
export function nameOfPostgres(given: string): string {
  const { hosts, database } = parsePostgresUrl(given);
  const names = hosts.map(({ host, port }) => {
    const name = host?.includes(":") === true ? `[${host}]` : (host ?? "").replaceAll("/", "%2F");
    return port === null ? name : `${name}:${String(port)}`;
  });
  return `postgres://${names.join(",")}/${database ?? ""}`;
}

/**
 * Finds a password with characters that end it. In such an address another part is not what it seems: of
 * `till:12#3@db/till`, the host is `till` and the port 12.
 */
function refuseUnencoded(rest: string): void {
  const later = rest.slice(/[/?#]/.exec(rest)?.index ?? rest.length);
  if (/^[^?]*@/.test(later) || /^[^?]*\?[^=]*@/.test(later)) {
    throw new InvalidPostgresUrl(
      "has a user name or a password with characters that must be percent-encoded: write @ as %40, # as %23, / as %2F, ? as %3F, : as %3A and % as %25",
    );
  }
  if (later.includes("#")) {
    throw new InvalidPostgresUrl(
      "contains a #: in a password, a user name or a database's name it must be percent-encoded as %23",
    );
  }
}

function parametersOf(query: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const part of query.split("&").filter((each) => each !== "")) {
    const [name, value = ""] = split(part, part.indexOf("="));
    parameters.set(decoded(name), decoded(value));
  }
  for (const [name, remedy] of Object.entries(refusedParameters)) {
    if (parameters.has(name)) {
      throw new InvalidPostgresUrl(`has the parameter ${name}, which Till does not use: ${remedy}`);
    }
  }
  return parameters;
}

/** A list in the query takes the place of the list before the path; a single port belongs to every host. */
function hostsOf(
  inUrl: string,
  hostList: string | null,
  portList: string | null,
): readonly [Host, ...Host[]] {
  const given = inUrl.split(",").map(hostOf);
  const hosts =
    hostList === null
      ? given
      : hostList.split(",").map((host, index) => ({
          host: host === "" ? null : host,
          port: given.length === 1 ? (given[0]?.port ?? null) : (given[index]?.port ?? null),
        }));
  const ports = portList?.split(",").map(portOf) ?? [];
  if (ports.length > 1 && ports.length !== hosts.length) {
    throw new InvalidPostgresUrl("must have one port for all hosts, or as many ports as hosts");
  }
  const [first = { host: null, port: null }, ...others] = hosts.map(({ host, port }, index) => ({
    host,
    port: ports[ports.length === 1 ? 0 : index] ?? port,
  }));
  return [first, ...others];
}

function hostOf(text: string): Host {
  const [, name, port] = /^(\[[0-9a-f:.]+\]|[^:[\]@]*)(?::(.*))?$/i.exec(text) ?? [];
  if (name === undefined) {
    throw new InvalidPostgresUrl(`must be ${form}, with several hosts as host-1:5432,host-2:5432`);
  }
  const host = decoded(name.replace(/^\[(.*)\]$/, "$1"));
  return { host: host === "" ? null : host, port: portOf(port ?? "") };
}

function portOf(text: string): number | null {
  if (text === "") return null;
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= portMax) return port;
  throw new InvalidPostgresUrl(
    `must be ${form}: there is no port after a host's colon. If it belongs to the password, its characters must be percent-encoded`,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidPostgresUrl(
      "contains a % that begins no percent-encoded character: in a password, % must be percent-encoded as %25",
    );
  }
}

/** Divides text at an index, and leaves out the character there; the second part is undefined if the index is negative. */
function split(text: string, index: number): [string, string | undefined] {
  return index < 0 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)];
}

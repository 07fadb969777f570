import { day, toIso, type Clock, type Instant } from "../kernel/clock.ts";
import { systemContext, type Database, type Reader } from "./database/database.ts";
import { meta } from "./database/schema/table.ts";

const seenFact = "untrusted_forwarding_seen_at";
/** How long an observation counts, in milliseconds: the operator may have removed the proxy since. */
const concern = 7 * day;

/** The warning for a server that seems to be behind a proxy while no proxy is trusted. */
export const untrustedForwarding =
  "Requests arrive with X-Forwarded-For, Forwarded or X-Real-IP, but no proxy is trusted. If Till runs behind a proxy, set TILL_TRUST_PROXY to its address: until then all clients share one rate limit and one address in the audit log. If it does not, a client forged the header and Till ignored it.";

/** The warning for an https base URL. Till serves plain http only, so a proxy must be in front of it. */
export const unnamedProxy =
  "TILL_BASE_URL begins with https, so Till runs behind a proxy, but TILL_TRUST_PROXY is not set: all clients share one rate limit and one address in the audit log.";

/** Records in the store that a request with forwarding headers arrived while no proxy was trusted. */
export async function noteForwarding(db: Database, clock: Clock): Promise<void> {
  const value = toIso(clock.now());
  await db.write(systemContext("proxies"), async (tx) => {
    const changed = await tx.update(meta, { value }, "WHERE name = $1", [seenFact]);
    if (changed === 0) await tx.insertIfAbsent(meta, { name: seenFact, value });
  });
}

/** Returns warnings about proxies in front of the server; none if a proxy is trusted. */
export async function proxyWarnings(
  settings: { readonly trustProxy: readonly string[]; readonly baseUrl: string | null },
  reader: Reader | null,
  now: Instant,
): Promise<readonly string[]> {
  if (settings.trustProxy.length > 0) return [];
  const row = await reader?.findOne(meta, "WHERE name = $1", [seenFact]);
  if (row != null && now - Date.parse(row.value) < concern) return [untrustedForwarding];
  return settings.baseUrl?.startsWith("https:") === true ? [unnamedProxy] : [];
}

import { day, toIso, type Clock, type Instant } from "../kernel/clock.ts";
import type { Database, Reader } from "./database/index.ts";
import { meta } from "./database/meta.ts";
import { systemContext } from "./database/system-context.ts";

const seenFact = "untrusted_forwarding_seen_at";
/** An operator may have put the proxy away since. */
const concern = 7 * day;

/** What to say to an operator where a proxy seems to stand before Till and none is trusted. */
export const untrustedForwarding =
  "Requests arrive with X-Forwarded-For, Forwarded or X-Real-IP, and no proxy is trusted. If a proxy stands before Till, name its address in TILL_TRUST_PROXY: until then all of its clients share one rate limit and one address in the audit log. If none does, a client made the header up and Till ignored it.";

/** What to say where links begin with https: Till itself answers http only, so a proxy stands before it. */
export const unnamedProxy =
  "TILL_BASE_URL begins with https, so a proxy stands before Till, but TILL_TRUST_PROXY names none: all of its clients share one rate limit and one address in the audit log.";

/** Remembers in the store that a request with forwarding headers arrived while no proxy was trusted. */
export async function noteForwarding(db: Database, clock: Clock): Promise<void> {
  const value = toIso(clock.now());
  await db.write(systemContext("proxies"), async (tx) => {
    const changed = await tx.update(meta, { value }, "WHERE name = $1", [seenFact]);
    if (changed === 0) await tx.insertIfAbsent(meta, { name: seenFact, value });
  });
}

/** What an operator should know of proxies before Till: nothing where one is trusted. */
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

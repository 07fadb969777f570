import { homedir, hostname, release, type, userInfo } from "node:os";
import { systemClock, toIso } from "../../kernel/clock.ts";
import type { ReportedSetting } from "../../platform/config/config.ts";
import { redactText } from "../../platform/logger/redact.ts";
import { programVersion } from "../../platform/files.ts";
import { conceal } from "./conceal.ts";
import type { Finding } from "./finding.ts";
import type { StoreChecks } from "./store-checks.ts";

/**
 * Returns everything for a bug report as text, without secrets: the settings come with theirs masked. Names of merchants
 * and machines, mail addresses, hosts, wallets and transactions are replaced unless `isOpen`.
 */
export function makeReport(
  findings: readonly Finding[],
  settings: readonly ReportedSetting[],
  store: StoreChecks | null,
  isOpen: boolean,
): string {
  const { arch, version } = process;
  const { organizationNames = [], ...contents } = store?.contents ?? {};
  const report = {
    createdAt: toIso(systemClock.now()),
    versions: { till: programVersion(), node: version, system: `${type()} ${release()} ${arch}` },
    findings: findings.map((finding) => ({ ...finding, message: redactText(finding.message) })),
    store: store?.contents === null || store === null ? null : contents,
    servers: store?.servers ?? [],
    status: store?.status ?? null,
    settings,
  };
  const known = {
    merchant: organizationNames,
    machine: [hostname()],
    home: [homedir()].filter((path) => path !== "/root" && path !== "/"),
    user: [userInfo().username].filter((name) => name !== "root" && name !== "node"),
  };
  return `${JSON.stringify(isOpen ? report : conceal(report, known), null, 2)}\n`;
}

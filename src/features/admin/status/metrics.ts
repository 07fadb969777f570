import type { App } from "../../../app.ts";
import { readBackupRecord } from "../../../platform/backup/history.ts";
import { oldestWaitingEvent } from "../../../platform/events/outbox.ts";
import { ageOf, alone, gauge, type MetricGroup } from "../../../platform/metrics/metrics.ts";
import { readBacklogs, readLastReport } from "./stored-status.ts";

/** The backlogs of the relay, the webhooks and the queues. */
export function workMetrics({ db, clock }: App): MetricGroup {
  return {
    metrics: [
      gauge("till_outbox_oldest_seconds", "Age of the oldest event that was not relayed yet."),
      gauge("till_webhook_deliveries", "Deliveries that have not succeeded, by status.", "status"),
      gauge("till_webhook_oldest_seconds", "Time that the oldest due delivery has waited."),
      gauge(
        "till_queue_jobs",
        "Jobs of each queue, including webhook deliveries.",
        "queue",
        "state",
      ),
    ],
    async read() {
      const now = clock.now();
      const [oldest, { webhooks, queues }] = await Promise.all([
        oldestWaitingEvent(db),
        readBacklogs(db, now),
      ]);
      const { pending, inProgress, failed, deadLetter } = webhooks;
      const deliveries = { pending, in_progress: inProgress, failed, dead_letter: deadLetter };
      return {
        till_outbox_oldest_seconds: alone(ageOf(oldest, now)),
        till_webhook_deliveries: Object.entries(deliveries).map(([status, value]) => ({
          labels: { status },
          value,
        })),
        till_webhook_oldest_seconds: alone(ageOf(webhooks.oldestDueAt, now)),
        till_queue_jobs: queues.flatMap(({ queue, ...states }) =>
          Object.entries(states).map(([state, value]) => ({ labels: { queue, state }, value })),
        ),
      };
    },
  };
}

/** The newest backup. */
export function backupMetrics({ db, clock }: App): MetricGroup {
  return {
    metrics: [
      gauge("till_backup_age_seconds", "Age of the newest backup; absent if no backup was made."),
      gauge("till_backup_failed", "1 if the last attempt of a backup failed, else 0."),
    ],
    async read() {
      const { made, failure } = await readBackupRecord(db);
      return {
        till_backup_age_seconds: made === null ? [] : alone(ageOf(made.at, clock.now())),
        till_backup_failed: alone(failure === null ? 0 : 1),
      };
    },
  };
}

/** The results of the last status checks. */
export function checkMetrics({ db, clock }: App): MetricGroup {
  return {
    metrics: [
      gauge(
        "till_check",
        "1 for the current status of each check: ok, unknown, degraded or down.",
        "check",
        "status",
      ),
    ],
    async read() {
      const { report } = await readLastReport(db, clock.now());
      return {
        till_check: Object.entries(report.checks).map(([check, { status }]) => ({
          labels: { check, status },
          value: 1,
        })),
      };
    },
  };
}

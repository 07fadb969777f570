import { loadavg } from "node:os";
import type { Ground } from "./ground.ts";
import type { Figures } from "./settle.ts";

/** Prints one line of figures. The proof fails if something was lost, doubled or wrong. */
export function report(
  ground: Ground,
  figures: Figures,
  more: {
    /** The time from the end of each fault to the first success, in seconds. */
    readonly recovery: readonly number[];
    /** Other figures, in words. */
    readonly notes?: readonly string[];
    /** Broken promises beyond lost and doubled, in words. */
    readonly faults?: readonly string[];
  },
): void {
  const { requests, acknowledged, found, lost, doubled } = figures;
  const faults = [...figures.faults, ...(more.faults ?? [])];
  const counts = { requests, acknowledged, found, lost, doubled };
  const most = Math.max(0, ...more.recovery);
  const parts = [
    ...Object.entries(counts).map(([word, n]) => `${n.toLocaleString("en-US")} ${word}`),
    `recovered within ${most.toFixed(1)} s`,
    ...(more.notes ?? []),
    `load ${(loadavg()[0] ?? 0).toFixed(1)}`,
  ];
  const hasHeld = lost === 0 && doubled === 0 && faults.length === 0;
  console.log(
    `${ground.name}, ${ground.dialect}: ${parts.join(", ")}${hasHeld ? "" : "  (failed)"}`,
  );
  if (hasHeld) return;
  for (const fault of faults) console.log(`  ${fault}`);
  console.log(`  the end of the logs:\n${ground.logs()}`);
  process.exitCode = 1;
}

import type { App } from "../../app.ts";

/** Returns the name by which a network's watch worker is woken. */
export function watchWorkerName(network: string): string {
  return `watch ${network}`;
}

/** Wakes the watcher of a network. */
export function wakeWatcher({ running }: Pick<App, "running">, network: string): void {
  running?.wake(watchWorkerName(network));
}

import { spawn, type ChildProcess } from "node:child_process";

/** A shell that waits until this process is gone and then runs a script. */
export interface Guard {
  /** Ends the shell without running its script. */
  dismiss(): void;
}

/** Runs a shell script with arguments `$1`, `$2` … once this process is gone, however it ended, even by kill -9. */
export function whenThisProcessIsGone(script: string, ...args: readonly string[]): Guard {
  // The pipe closes with this process, and `read` returns.
  const shell = spawn("/bin/sh", ["-c", `read -r _; ${script}`, "till-test-guard", ...args], {
    stdio: ["pipe", "ignore", "ignore"],
    // Outside this process's group, which may be killed as a whole.
    detached: true,
  });
  shell.unref();
  // An open pipe would keep this process alive.
  (shell.stdin as unknown as { unref(): void }).unref();
  return {
    dismiss() {
      shell.kill("SIGKILL");
    },
  };
}

/** Kills a child once this process is gone, unless the child has ended before. */
export function endWithThisProcess(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const guard = whenThisProcessIsGone('kill -KILL "$1"', String(child.pid));
  child.once("exit", () => {
    guard.dismiss();
  });
}

// A suite that starts a server, writes the ids of both processes to the file that LINGERING_PIDS names, and waits until
// it is ended. The server is the demo if LINGERING_DEMO is 1, else a program that only waits. Only guard.test.ts runs
// it.
import { spawn } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endWithThisProcess } from "./guard.ts";

describe("a suite that waits", () => {
  it("is ended while its server runs", async () => {
    const pid = process.env["LINGERING_DEMO"] === "1" ? await startDemo() : startWaiting();
    await writeFile(process.env["LINGERING_PIDS"] ?? "", `${String(process.pid)} ${String(pid)}\n`);
    await delay(100_000);
  });
});

async function startDemo(): Promise<number> {
  // Loads the whole program, which the other server does not need.
  const { useProcesses } = await import("./till.ts");
  const server = useProcesses().start(["demo", "--json", "--port", "0"], {
    TMPDIR: await mkdtemp(join(tmpdir(), "till-lingering-")),
  });
  await server.line(/^\{/);
  return server.pid;
}

function startWaiting(): number | undefined {
  const child = spawn("/bin/sleep", ["1000"], { stdio: "ignore" });
  endWithThisProcess(child);
  return child.pid;
}

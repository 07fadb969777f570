import { expect } from "chai";
import { join } from "node:path";
import { init, till, useFolders, useProcesses } from "../../support/programs/till.ts";
import { until } from "../../support/until.ts";

const sandbox = { TILL_NETWORKS: "sandbox", TILL_RATES: "off" };

interface Status {
  readonly checkedAt: string;
  readonly infrastructure: {
    readonly status: string;
    readonly checks: Readonly<Record<string, string>>;
    readonly messages: Readonly<Record<string, string>>;
  };
  readonly providers: readonly { readonly network: string; readonly status: string }[];
  readonly queues: readonly { readonly queue: string }[];
}

describe("till ops status", () => {
  const folders = useFolders();
  const processes = useProcesses();

  const ask = async (folder: string, ...words: string[]) => {
    const flags = ["--json", "--data-dir", folder];
    const { code, stdout, stderr } = await till(["ops", "status", ...words, ...flags], {
      env: sandbox,
    });
    return { code, stderr, status: JSON.parse(stdout || "null") as Status | null };
  };

  it("shows a server's findings, that no server runs, and with --probe its own findings", async () => {
    const folder = join(await folders.make(), "data");
    const nothing = await ask(folder);
    expect(nothing).to.include({ code: 5, status: null });
    expect(nothing.stderr).to.include("no_store");

    await init(["--data-dir", folder], { env: sandbox });
    const before = await ask(folder);
    expect(before.code).to.equal(7);
    expect(before.status?.infrastructure.status).to.equal("unknown");
    expect(before.status?.queues.map(({ queue }) => queue)).to.deep.equal([
      "webhooks",
      "chain",
      "billing",
      "maintenance",
    ]);

    const server = processes.start(["serve", "--port", "0", "--data-dir", folder], sandbox);
    await server.line(/^Till is ready at /);
    const good = await until(
      "a look around",
      () => ask(folder),
      ({ code }) => code === 0,
    );
    expect(good.status?.infrastructure.checks["database"]).to.equal("ok");
    expect(good.status?.infrastructure.messages["database"]).to.match(/^A write took .*ago\)$/);
    expect(good.status?.providers[0]?.network).to.equal("sandbox");

    const probed = await ask(folder, "--probe");
    expect(probed.code).to.equal(0);
    expect(probed.status?.infrastructure.messages["database"]).to.match(/ms\.$/);

    const people = await till(["ops", "status", "--data-dir", folder], { env: sandbox });
    expect(people.stdout).to.match(/^Installation {2}ok$/m);
    expect(people.stdout).to.match(/^database +ok +A write took /m);
    expect(people.stdout).to.match(/^webhooks +0 +0 +0 +0$/m);
    expect((await till(["ops", "status", "-q", "--data-dir", folder])).stdout).to.equal("ok\n");
  });

  it("repeats until it is stopped", async () => {
    const folder = join(await folders.make(), "data");
    await init(["--data-dir", folder], { env: sandbox });
    const watching = processes.start(
      ["ops", "status", "--watch", "--json", "--data-dir", folder],
      sandbox,
    );
    await until(
      "two looks",
      () => watching.stdout().split("\n").length - 1,
      (lines) => lines >= 2,
    );
    watching.child.kill("SIGINT");
    expect(await watching.exit()).to.deep.equal({ code: 0, signal: null });
  });
});

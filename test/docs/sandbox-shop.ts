import { expect } from "chai";
import type { Till } from "../../src/client/index.ts";
import { openClient } from "../scenarios/client.ts";
import { xpubs } from "../support/merchants.ts";
import { makeInstallation, type RunningServer } from "../support/programs/program.ts";
import { until } from "../support/until.ts";

interface ChainStatus {
  readonly data: readonly { readonly tip: { readonly blockHash: string } | null }[];
}

/** A server with the sandbox, whose blocks are made on command, and an organization with a wallet and API keys. */
export interface SandboxShop {
  readonly url: string;
  /** A key with the scope `shop`. */
  readonly key: string;
  /** A client with the scope `write`, for what people do and shops may not. */
  readonly till: Till;
  readonly organizationId: string;
  /** Runs a command of `till`, which must succeed, and returns its output. */
  command(words: readonly string[], input?: string): Promise<string>;
  /** Runs commands with `--json`, each once the server has read the block that the one before made. */
  play(commands: readonly (readonly string[])[]): Promise<void>;
  /** Ends the server, and starts it again at the same address once `meanwhile` is done. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  remove(): Promise<void>;
}

export async function openSandboxShop(
  settings: Readonly<Record<string, string>> = {},
): Promise<SandboxShop> {
  const installation = await makeInstallation({
    TILL_NETWORKS: "sandbox",
    TILL_SANDBOX_BLOCK_MS: "0",
    TILL_VERIFICATION: "off",
    TILL_RATE_LIMIT_SCALE: "0",
    ...settings,
  });

  async function command(words: readonly string[], input?: string): Promise<string> {
    const { status, stdout, stderr } = await installation.run(words, input);
    expect(status, `till ${words.join(" ")}: ${stderr}`).to.equal(0);
    return stdout;
  }

  async function hasRead(blockHash: string): Promise<void> {
    await until(
      "a scan of the newest block",
      async () => JSON.parse(await command(["chain", "status", "--json"])) as ChainStatus,
      ({ data: [network] }) => network?.tip?.blockHash === blockHash,
    );
  }

  const admin = ["--admin-email", "admin@example.com", "--admin-name", "Admin"];
  const made = await command(
    ["init", ...admin, "--organization", "Platform", "--password-stdin", "--json"],
    "a password of the tests 1\n",
  );
  const { organization } = JSON.parse(made) as { organization: { id: string } };
  async function keyWith(scope: string): Promise<string> {
    const words = ["key", "create", "--organization", organization.id, "--name", scope];
    const created = await command([...words, "--scopes", scope, "--json"]);
    return (JSON.parse(created) as { readonly secret: string }).secret;
  }
  const key = await keyWith("shop");
  let server: RunningServer = await installation.serve();
  const { url } = server;
  const till = openClient({ url, apiKey: await keyWith("write") });
  const wallet = { label: "Till", network: "sandbox", xpub: xpubs.first };
  await till.wallets.create(organization.id, wallet);

  return {
    url,
    key,
    till,
    organizationId: organization.id,
    command,
    async play(commands) {
      for (const words of commands) {
        const output = await command([...words, "--json"]);
        const { blockHash } = JSON.parse(output) as { readonly blockHash?: string };
        // A reader sees the effect of a block before typing the next command.
        if (blockHash !== undefined) await hasRead(blockHash);
      }
    },
    async restart(meanwhile) {
      await server.stop();
      await meanwhile();
      server = await installation.serve({ TILL_PORT: new URL(url).port });
    },
    remove: () => installation.remove(),
  };
}

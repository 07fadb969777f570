// The webhook guide: its functions run, and its numbers are those of the program.
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import {
  disabledAfter,
  givenUpApart,
  noticesAfter,
} from "../../src/features/webhooks/endpoints/failure-policy.ts";
import {
  deadLetterKeptFor,
  deliveryKeptFor,
} from "../../src/features/webhooks/delivery/retention.ts";
import { attemptDelays } from "../../src/features/webhooks/delivery/retry-policy.ts";
import { day, hour, minute, second } from "../../src/kernel/clock.ts";
import { eventCatalogue } from "../../src/platform/events/catalogue.ts";
import { newWebhookSecret, sign } from "../../src/platform/outbound/standard-webhooks.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

function worded(ms: number): string {
  if (ms === 0) return "at once";
  if (ms % hour === 0) return `${String(ms / hour)} h`;
  return ms % minute === 0 ? `${String(ms / minute)} min` : `${String(ms / second)} s`;
}

describe("the guide for webhooks", () => {
  let guide = "";
  let folder = "";

  before(async () => {
    guide = await readFile(join(root, "docs/guides/webhooks.md"), "utf8");
    folder = await mkdtemp(join(tmpdir(), "till-guide-"));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it("has the numbers of the program", () => {
    const rows = [...guide.matchAll(/^\| +(\d+) +\| ([^|]+?) +\|$/gm)].map(([, n, wait]) => [
      n,
      wait,
    ]);
    expect(rows).to.deep.equal(attemptDelays.map((ms, n) => [String(n + 1), worded(ms)]));
    const [first = 0, last = 0] = noticesAfter;
    for (const words of [
      `kept for ${String(deadLetterKeptFor / day)} days`,
      `kept for ${String(deliveryKeptFor / day)} days`,
      `for ${String(first / hour)} and for ${String(last / hour)} hours`,
      `after ${String(disabledAfter / hour)} hours`,
      `given up ${String(givenUpApart / hour)} hours apart`,
    ]) {
      expect(guide).to.include(words);
    }
  });

  it("names all events of an invoice's life and no others", () => {
    const named = new Set([...guide.matchAll(/\binvoice\.[a-z_]+/g)].map(([type]) => type));
    // It is for changes without an event of their own, so no arrow has its name.
    const { "invoice.updated": _, ...told } = eventCatalogue.invoices;
    expect([...named].sort()).to.deep.equal(Object.keys(told).sort());
  });

  it("has functions in other languages that refuse changed, old and foreign deliveries", async () => {
    const programOf = (fence: string) =>
      new RegExp(`\`\`\`${fence}\n([^]+?)\`\`\``).exec(guide)?.[1] ?? "";
    const secret = newWebhookSecret(systemRandom);
    const other = newWebhookSecret(systemRandom);
    const body = '{"type":"invoice.paid","data":{"id":"inv_1","amount":"25.00 €"}}';
    const signed = (age: number, secrets = [secret]) => ({
      ...sign({
        id: "evt_1",
        body: Buffer.from(body),
        secrets,
        timestampSeconds: Math.floor(Date.now() / second) - age,
      }),
    });
    const cases = [
      { headers: signed(0), body, isGenuine: true },
      { headers: signed(0, [other, secret]), body, isGenuine: true },
      { headers: signed(0), body: `${body} `, isGenuine: false },
      { headers: signed(0, [other]), body, isGenuine: false },
      { headers: signed(400), body, isGenuine: false },
      { headers: signed(-400), body, isGenuine: false },
      { headers: { ...signed(0), "webhook-id": "evt_2" }, body, isGenuine: false },
    ];
    await writeFile(join(folder, "verify.mjs"), programOf("js"));
    await writeFile(join(folder, "verify.py"), programOf("python"));
    await writeFile(join(folder, "verify.php"), programOf("php"));
    await writeFile(join(folder, "cases.json"), JSON.stringify({ secret, cases }));
    const inNode = `import { readFileSync } from "node:fs"; import { verify } from "./verify.mjs";
      const { secret, cases } = JSON.parse(readFileSync("cases.json", "utf8"));
      console.log(JSON.stringify(cases.map(({ headers, body }) => {
        try { verify(secret, headers, Buffer.from(body)); return true; } catch { return false; }
      })));`;
    const inPython = [
      "import json",
      "from verify import verify",
      'given = json.load(open("cases.json", encoding="utf-8"))',
      "def is_genuine(case):",
      "    try:",
      '        verify(given["secret"], case["headers"], case["body"].encode())',
      "        return True",
      "    except ValueError:",
      "        return False",
      'print(json.dumps([is_genuine(case) for case in given["cases"]]))',
    ].join("\n");
    const runners = [[process.execPath, "--input-type=module", "-e", inNode]];
    if (spawnSync("python3", ["--version"]).status === 0) runners.push(["python3", "-c", inPython]);
    // Names of headers as proxies write them; and a request without any.
    const inPhp = `require "verify.php";
      $given = json_decode(file_get_contents("cases.json"), true);
      $isGenuine = function (array $headers, string $body) use ($given): bool {
        try { verify($given["secret"], $headers, $body); return true; }
        catch (RuntimeException $error) { return false; }
      };
      $found = [];
      foreach ($given["cases"] as ["headers" => $headers, "body" => $body]) {
        $upper = array_change_key_case($headers, CASE_UPPER);
        if ($isGenuine($headers, $body) !== $isGenuine($upper, $body)) exit(1);
        $found[] = $isGenuine($headers, $body);
      }
      if ($isGenuine([], "{}")) exit(1);
      echo json_encode($found);`;
    if (spawnSync("php", ["--version"]).status === 0) {
      runners.push(["php", "-d", "display_errors=stderr", "-r", inPhp]);
    }
    for (const [command = "", ...words] of runners) {
      const { stdout, stderr } = spawnSync(command, words, { cwd: folder, encoding: "utf8" });
      expect(stderr, command).to.equal("");
      const expected = cases.map(({ isGenuine }) => isGenuine);
      expect(JSON.parse(stdout), command).to.deep.equal(expected);
    }
  });
});

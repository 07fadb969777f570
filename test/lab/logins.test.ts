// Real users log in to the running program while strangers send logins with made-up accounts from one IPv6 range.
import { expect } from "chai";
import { password } from "../support/app.ts";
import { openShop, type Shop } from "./shop.ts";

/** How many requests of the flood wait for an answer at the same time. */
const floodWidth = 200;
const users = 20;
/** How long the flood lasts at most, in milliseconds: the users log in one after another meanwhile. */
const longest = 600_000;

describe("Logins", () => {
  let shop: Shop;
  before(async () => {
    shop = await openShop({
      TILL_REGISTRATION: "open",
      TILL_RATE_LIMIT_REGISTRATION_PER_HOUR: "1000",
    });
  });
  after(() => shop.end());

  const send = (path: string, ip: string, body: object): Promise<Response> =>
    fetch(`${shop.server.url}/v1/auth/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Forwarded-For": ip },
      body: JSON.stringify(body),
    });

  it("of real users succeed during a flood of made-up accounts from one /48, at least 17 of 20", async () => {
    const emails = Array.from({ length: users }, (_, place) => `user${String(place)}@shop.example`);
    for (const [place, email] of emails.entries()) {
      const body = { email, password, name: "User", organizationName: "Shop" };
      const made = await send("register", `2001:db8:${String(place)}::1`, body);
      expect(made.status, await made.text()).to.equal(201);
    }
    let isOver = false as boolean;
    let sent = 0;
    const flood = Array.from({ length: floodWidth }, async (_, lane) => {
      while (!isOver) {
        sent += 1;
        // Another /64 for every request, so that no limit by client stops it.
        const ip = `2001:dba:77:${(sent % 65_536).toString(16)}::${String(lane + 1)}`;
        const email = `nobody${String(sent)}@nowhere.example`;
        const answer = await send("login", ip, { email, password });
        await answer.arrayBuffer();
        // A refused attacker tries again at once, but leaves this process some time.
        if (answer.status !== 401) await new Promise((resolve) => setTimeout(resolve, 50));
      }
    });
    const start = Date.now();
    const statuses: number[] = [];
    const waits: number[] = [];
    for (const [place, email] of emails.entries()) {
      const from = Date.now();
      const answer = await send("login", `2001:db8:${String(place)}::1`, { email, password });
      statuses.push(answer.status);
      waits.push(Date.now() - from);
      if (Date.now() - start > longest) break;
    }
    isOver = true;
    await Promise.all(flood);
    if (process.env["TILL_PROVE"] === "1") console.log({ sent, statuses, waits });
    expect(statuses.filter((status) => status === 200).length, statuses.join()).to.be.at.least(17);
    expect(sent).to.be.greaterThan(floodWidth);
  });
});

import { expect } from "chai";
import {
  addressGroup,
  addressGroups,
  clientAddress,
  isLoopback,
} from "../../src/http/client-address.ts";
import { parseRange } from "../../src/platform/outbound/address.ts";

describe("the client's address", () => {
  const trusted = ["10.0.0.0/8", "::1/128"].map(parseRange);

  it("is the socket's unless a trusted proxy forwards another", () => {
    for (const [socket, header, expected] of [
      ["192.0.2.1", "203.0.113.1", "192.0.2.1"],
      ["10.0.0.1", "203.0.113.1", "203.0.113.1"],
      ["::ffff:10.0.0.1", "203.0.113.1", "203.0.113.1"],
      ["10.0.0.1", "1.1.1.1, 203.0.113.1, 10.2.3.4", "203.0.113.1"],
      ["10.0.0.1", "", "10.0.0.1"],
      ["10.0.0.1", "junk", "10.0.0.1"],
      ["10.0.0.1", "203.0.113.1, junk", "10.0.0.1"],
      ["10.0.0.1", "203.0.113.1,", "10.0.0.1"],
      ["::1", "2001:DB8::1", "2001:db8::1"],
      ["10.0.0.1", "::ffff:203.0.113.1", "203.0.113.1"],
      ["10.0.0.1", Array.from({ length: 5_000 }, () => "10.0.0.2").join(","), "10.0.0.2"],
      ["", "203.0.113.1", ""],
      // Some proxies add the port, and others write an address as in the header Forwarded.
      ["10.0.0.1", "203.0.113.1:49152", "203.0.113.1"],
      ["10.0.0.1", '"203.0.113.1:49152"', "203.0.113.1"],
      ["10.0.0.1", "[2001:db8::1]:49152", "2001:db8::1"],
      ["10.0.0.1", "[2001:db8::1]", "2001:db8::1"],
      ["10.0.0.1", '"[2001:db8::1]:49152"', "2001:db8::1"],
      ["10.0.0.1", "2001:db8::1%eth0", "2001:db8::1"],
      ["10.0.0.1", "198.51.100.1:1, 203.0.113.1:2, 10.2.3.4:3", "203.0.113.1"],
      ["10.0.0.1", "203.0.113.1:port", "10.0.0.1"],
      // However much a client writes, the entry that its proxy adds stands last and counts.
      ["10.0.0.1", `${"198.51.100.1,".repeat(15)}203.0.113.1`, "203.0.113.1"],
      ["10.0.0.1", `${"198.51.100.1,".repeat(16)}203.0.113.1`, "203.0.113.1"],
      ["10.0.0.1", `${"198.51.100.1,".repeat(1_000)}203.0.113.1`, "203.0.113.1"],
      ["10.0.0.1", `${"198.51.100.1,".repeat(40)}203.0.113.1,10.2.3.4`, "203.0.113.1"],
      // Sixteen proxies are believed and no more, so that nobody hides behind a longer chain of their names.
      ["10.0.0.1", `198.51.100.1${",10.2.3.4".repeat(15)}`, "198.51.100.1"],
      ["10.0.0.1", `198.51.100.1${",10.2.3.4".repeat(16)}`, "10.2.3.4"],
    ] as const) {
      expect(clientAddress(socket, header, trusted), header.slice(0, 40)).to.equal(expected);
    }
    expect(clientAddress("10.0.0.1", "203.0.113.1", [])).to.equal("10.0.0.1");
  });

  it("is this machine's own only in the loopback ranges", () => {
    for (const own of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]) {
      expect(isLoopback(own), own).to.equal(true);
    }
    for (const other of ["10.0.0.1", "192.0.2.1", "::2", "::ffff:10.0.0.1", "localhost", ""]) {
      expect(isLoopback(other), other).to.equal(false);
    }
  });

  it("is in the ranges that providers assign, the smallest first", () => {
    for (const [address, ...groups] of [
      ["203.0.113.1", "203.0.113.1", "203.0.113.0/24"],
      ["2001:db8:1:2ff:3:4:5:6", "2001:db8:1:2ff::/64", "2001:db8:1:200::/56", "2001:db8:1::/48"],
      ["2001:db8::", "2001:db8:0:0::/64", "2001:db8:0:0::/56", "2001:db8:0::/48"],
      ["unknown", "unknown"],
    ] as const) {
      expect(addressGroups(address)).to.deep.equal(groups);
    }
  });

  it("is counted by IPv4 address or IPv6 /64", () => {
    for (const [address, group] of [
      ["203.0.113.1", "203.0.113.1"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
      ["2001:db8:1:2::", "2001:db8:1:2::/64"],
      ["::1", "0:0:0:0::/64"],
      ["", ""],
    ] as const) {
      expect(addressGroup(address)).to.equal(group);
    }
  });
});

// Receivers whose responses are not valid HTTP. A status that was received whole counts, so that no event is delivered
// again and again to a receiver that has taken it.
import { expect } from "chai";
import { post, useSending } from "./sending.ts";

const ok = "HTTP/1.1 200 OK";
const failed = "HTTP/1.1 503 Service Unavailable";
const noCrLf = "A line of its head does not end with CR and LF.";

/** A line for each response: its bytes, its status, and what is odd about it; a status of null: it does not count. */
const answers: readonly (readonly [string, string, number | null, string | null])[] = [
  // These are valid.
  ["no reason phrase", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, null],
  ["HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nok", 200, null],
  [
    "an interim response first",
    `HTTP/1.1 100 Continue\r\n\r\n${ok}\r\nContent-Length: 0\r\n\r\n`,
    200,
    null,
  ],
  ...[ok, failed].flatMap((line): (readonly [string, string, number, string])[] => {
    const status = Number(line.split(" ")[1]);
    const of = (what: string) => `${String(status)} and ${what}`;
    return [
      [
        of("both lengths"),
        `${line}\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
        status,
        "It has both Content-Length and Transfer-Encoding.",
      ],
      [of("LF alone"), `${line}\nContent-Length: 2\n\nok`, status, noCrLf],
      [of("LF alone after a header"), `${line}\r\nContent-Length: 2\n\nok`, status, noCrLf],
      [
        of("an equal length twice"),
        `${line}\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok`,
        status,
        "It has two Content-Length headers.",
      ],
      [
        of("a length in words"),
        `${line}\r\nContent-Length: two\r\n\r\nok`,
        status,
        "Its Content-Length is not valid.",
      ],
      [
        of("a line that is not a header"),
        `${line}\r\nnonsense\r\n\r\n`,
        status,
        "It is not valid HTTP.",
      ],
      [
        of("a space in a header's name"),
        `${line}\r\nX Y: z\r\n\r\n`,
        status,
        "It is not valid HTTP.",
      ],
      [of("a NUL in a header"), `${line}\r\nX: a\0b\r\n\r\n`, status, "It is not valid HTTP."],
      [of("a folded header"), `${line}\r\nX: a\r\n b\r\n\r\n`, status, "It is not valid HTTP."],
      [
        of("a broken chunk"),
        `${line}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
        status,
        "Its body is not in valid chunks.",
      ],
      [
        of("endless headers"),
        `${line}\r\n${"X: yyyy\r\n".repeat(10_000)}\r\n`,
        status,
        "Its headers are too long.",
      ],
      [
        of("LF alone after an interim response"),
        `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${line}\nContent-Length: 0\n\n`,
        status,
        noCrLf,
      ],
    ];
  }),
  // Their status lines were not received.
  ["half of a status line", "HTTP/1.1 200 O", null, null],
  ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n", null, null],
  ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", null, null],
  ["a page", "<html>200 OK</html>\r\n", null, null],
];

describe("a response that is not valid HTTP", () => {
  const { peer, senderOf } = useSending();

  for (const [name, bytes, status, oddity] of answers) {
    for (const [manner, sizes] of [
      ["at once", []],
      ["in pieces", [1, 8, 14, 24, 40]],
    ] as const) {
      it(`has the status that was received, if it has ${name} and comes ${manner}`, async () => {
        const { port } = await peer((socket) => {
          socket.on("error", () => undefined);
          socket.setNoDelay(true);
          socket.once("data", () => {
            void (async () => {
              const ends = [...sizes.filter((size) => size < bytes.length), bytes.length];
              let sent = 0;
              for (const end of ends) {
                socket.write(bytes.slice(sent, end), "latin1");
                sent = end;
                await new Promise((resolve) => setTimeout(resolve, 5));
              }
              socket.end();
            })();
          });
        });
        const result = await senderOf().send(post(`http://receiver.test:${String(port)}/`));
        if (status === null) expect(result).to.include({ outcome: "error" });
        else expect(result).to.include({ outcome: "response", status, oddity });
      });
    }
  }
});

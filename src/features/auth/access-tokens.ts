import { jwtVerify, SignJWT } from "jose";
import { minute, type Clock, type Instant } from "../../kernel/clock.ts";
import { idPattern, type Id } from "../../kernel/id.ts";

/** How long an access token is good. */
export const accessTokenLife = 15 * minute;

/** The one algorithm that is signed with and believed. */
const algorithm = "HS256";
const tokenType = "at+jwt";
const issuer = "till";
const audience = "till-api";

export interface AccessTokens {
  /** A token of a session, and when it ends. */
  issue(
    userId: Id<"user">,
    sessionId: Id<"session">,
  ): Promise<{ accessToken: string; expiresAt: Instant }>;
  /** The session that a token was made for; null when it is not ours, altered, of another kind or over. */
  verify(accessToken: string): Promise<Id<"session"> | null>;
}

/** `key` is 32 bytes made for this purpose alone. */
export function createAccessTokens(deps: { key: Uint8Array; clock: Clock }): AccessTokens {
  const { key, clock } = deps;
  return {
    async issue(userId, sessionId) {
      const issuedAt = Math.floor(clock.now() / 1_000);
      const expiresAt = issuedAt + accessTokenLife / 1_000;
      const accessToken = await new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: algorithm, typ: tokenType })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(userId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(key);
      return { accessToken, expiresAt: expiresAt * 1_000 };
    },

    async verify(accessToken) {
      try {
        const { payload } = await jwtVerify(accessToken, key, {
          algorithms: [algorithm],
          typ: tokenType,
          issuer,
          audience,
          requiredClaims: ["exp", "sub", "sid"],
          currentDate: new Date(clock.now()),
        });
        const sessionId = payload["sid"];
        return typeof sessionId === "string" && idPattern("session").test(sessionId)
          ? (sessionId as Id<"session">)
          : null;
      } catch {
        return null;
      }
    },
  };
}

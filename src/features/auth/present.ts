import type { z } from "zod";
import { toIso } from "../../kernel/clock.ts";
import { presentMembership, presentUser } from "../members/records.ts";
import type { AuthSessionRecord } from "./records.ts";
import type { AuthSession } from "./service.ts";

export function presentSession(session: AuthSession): z.input<typeof AuthSessionRecord> {
  return {
    tokenType: "Bearer",
    accessToken: session.accessToken,
    accessTokenExpiresAt: toIso(session.accessTokenExpiresAt),
    refreshToken: session.refreshToken,
    refreshTokenExpiresAt: toIso(session.refreshTokenExpiresAt),
    user: presentUser(session.user),
    memberships: session.memberships.map(presentMembership),
  };
}

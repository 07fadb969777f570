import { createAccessTokens } from "../../features/auth/sessions/access-tokens.ts";
import { createLoginLock } from "../../features/auth/login-lock.ts";
import { makeAuthService, type AuthService } from "../../features/auth/service.ts";
import { makePasswordService, type PasswordService } from "../../features/auth/passwords.ts";
import { makeSessions } from "../../features/auth/sessions/sessions.ts";
import { makeUserService, type UserService } from "../../features/auth/users.ts";
import { makeMeService, type MeService } from "../../features/me/service.ts";
import {
  makeInvitations,
  makeInvitationService,
  type InvitationService,
} from "../../features/members/invitations.ts";
import {
  makeMembers,
  makeMemberService,
  type Members,
  type MemberService,
} from "../../features/members/service.ts";
import {
  makeOrganizations,
  type Organizations,
} from "../../features/organizations/organizations.ts";
import {
  makeOrganizationService,
  type OrganizationService,
} from "../../features/organizations/service.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { Passwords } from "../../platform/secrets/passwords.ts";
import { deriveKey } from "../../platform/secrets/server-secret.ts";
import { hashToken, newToken, refreshSuccessor } from "../../platform/secrets/tokens.ts";
import { type Dependencies } from "../dependencies.ts";

/** Users, their sessions, and the organizations of which they are members. */
export interface Accounts {
  readonly members: Members;
  readonly memberService: MemberService;
  readonly invitationService: InvitationService;
  readonly organizations: Organizations;
  readonly organizationService: OrganizationService;
  readonly me: MeService;
  readonly auth: AuthService;
  readonly passwordService: PasswordService;
  readonly users: UserService;
  readonly sessions: ReturnType<typeof makeSessions>;
}

export function makeAccounts(
  parts: Dependencies,
  journal: Journal,
  passwords: Passwords,
): Accounts {
  const { config, db, clock, ids, randomBytes } = parts;
  const common = { db, clock, ids, journal };
  const members = makeMembers({ ids, journal });
  const invitations = makeInvitations({ journal, members });
  const review = { verification: config.verification };
  const organizations = makeOrganizations({ ...common, ...review, members });
  return {
    members,
    memberService: makeMemberService(common),
    invitationService: makeInvitationService({ ...common, randomBytes, members, invitations }),
    organizations,
    organizationService: makeOrganizationService({
      ...common,
      ...review,
      members,
      organizations,
      networks: parts.networks.enabled,
    }),
    me: makeMeService({ db }),
    ...makeSignIn(parts, { ...common, members, invitations, organizations, passwords }),
    users: makeUserService({ db, clock, passwords, members }),
  };
}

/** Makes what a user signs in with: sessions and passwords. */
function makeSignIn(
  { config, secret, randomBytes }: Dependencies,
  deps: Omit<
    Parameters<typeof makeAuthService>[0],
    "accessTokens" | "refreshTokens" | "loginLock" | "registration"
  >,
) {
  const { db, clock } = deps;
  const accessTokens = createAccessTokens({ key: deriveKey(secret, "access-tokens"), clock });
  const refreshKey = deriveKey(secret, "refresh-tokens");
  const loginLock = createLoginLock({ clock });
  const auth = makeAuthService({
    ...deps,
    accessTokens,
    refreshTokens: {
      create: () => newToken("refresh", randomBytes),
      successor: (token) => refreshSuccessor(refreshKey, token),
      hash: hashToken,
    },
    loginLock,
    registration: config.registration,
  });
  const passwordService = makePasswordService({ ...deps, randomBytes, loginLock });
  const sessions = makeSessions({ db, clock, journal: deps.journal, accessTokens });
  return { auth, passwordService, sessions };
}

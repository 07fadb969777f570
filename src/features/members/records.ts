import { z } from "zod";
import { datetime, id, responseRecord } from "../../api/record.ts";
import { roles } from "../../api/permissions.ts";

export const UserRecord = responseRecord("User", {
  id: id("user"),
  email: z.string(),
  name: z.string(),
  platformRole: z.enum(["admin", "none"]),
  createdAt: datetime(),
});

export const MembershipRecord = responseRecord("Membership", {
  id: id("membership"),
  userId: id("user"),
  organizationId: id("organization"),
  organizationName: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.enum(roles),
  createdAt: datetime(),
});

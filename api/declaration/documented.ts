import { z } from '@hono/zod-openapi';

/** An object with only these fields, which the document describes under a name of its own. */
export const documented = <Fields extends z.ZodRawShape>(name: string, description: string, fields: Fields) =>
  z.strictObject(fields).openapi(name, { description });

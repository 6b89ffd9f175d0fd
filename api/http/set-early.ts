import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/**
 * Sets a header of the response before there is one. It goes straight to the socket's response where there is one: a header
 * that the framework keeps until then takes the answer off its fast path.
 */
export function setEarly(c: Context, name: string, value: string): void {
  const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
  if (outgoing) outgoing.setHeader(name, value);
  else c.header(name, value);
}

import { ConnectionError } from '../rest/errors.ts';
import { headersOf } from './headers.ts';
import { rejection } from './rejection.ts';
import type { Transport } from './types.ts';

/** Server-sent events, read with `fetch`. */
export const followEvents: Transport = async (
  { base, pools, depth, basis, apiKey, fetch },
  after,
  onMessage,
  signal,
) => {
  const headers = headersOf(apiKey, after ? { 'Last-Event-ID': after } : {});
  const response = await fetch(`${base}/stream?depth=${depth}&pools=${pools.join()}${basis ? `&basis=${basis}` : ''}`, {
    headers,
    signal,
  });
  if (!response.ok || !response.body) throw await rejection(response);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let fields: Record<string, string> = {};
  for (let text = ''; ; ) {
    const { done, value } = await reader.read();
    if (done) throw new ConnectionError('The stream ended');
    const lines = (text + decoder.decode(value, { stream: true })).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const [name] = line.split(':', 1) as [string];
      // A comment is whole without an empty line, and may stand before an event.
      if (line.startsWith(':')) onMessage(null);
      else if (line) fields[name] = line.slice(name.length + 1).trim();
      else {
        onMessage(fields.data ? { ...JSON.parse(fields.data), event: fields.event, id: fields.id } : null);
        fields = {};
      }
    }
  }
};

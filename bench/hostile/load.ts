import { Agent, request } from 'node:http';
import { Samples } from '../route/measure.ts';

/** A request without the process that gets it; with a body it is posted. */
export interface LoadRequest {
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Clients that ask without pause, each on a connection of its own. */
const CLIENTS = 2;
const clients = new Agent({ keepAlive: true, maxSockets: CLIENTS });

/** Milliseconds from a request to the last byte of its answer, and how many answers were not 200. */
export class LoadResult extends Samples {
  refused = 0;
}

/** Sends so many requests, each in turn, after each once. */
export async function measureLoad(url: string, requests: readonly LoadRequest[], count: number): Promise<LoadResult> {
  for (const each of requests) await timeRequest(url, each);
  const result = new LoadResult();
  let sent = 0;
  const client = async () => {
    while (sent < count) {
      const next = requests[sent++ % requests.length] as LoadRequest;
      const { ms, status } = await timeRequest(url, next);
      result.add(ms);
      if (status !== 200) result.refused += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return result;
}

export function timeRequest(
  url: string,
  { path, body, headers = {} }: LoadRequest,
  agent = clients,
): Promise<{ readonly ms: number; readonly status: number }> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request(
      `${url}${path}`,
      { agent, headers, method: body === undefined ? 'GET' : 'POST' },
      (response) => {
        response.on('error', reject).on('end', () => {
          resolve({ ms: performance.now() - startedAt, status: response.statusCode ?? 0 });
        });
        response.resume();
      },
    );
    asked.on('error', reject).end(body);
  });
}

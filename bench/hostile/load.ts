import { Agent, request } from 'node:http';
import { Samples } from '../route/measure.ts';

/** A request without the process that gets it; with a body it is posted. */
export interface LoadRequest {
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Milliseconds from a request to the last byte of its answer, and how many answers were not 200. */
export class LoadResult extends Samples {
  rejected = 0;
}

const connections = new Agent({ keepAlive: true });

export function timeRequest(
  url: string,
  { path, body, headers = {} }: LoadRequest,
  agent = connections,
): Promise<{ readonly ms: number; readonly status: number }> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      { agent, headers, method: body === undefined ? 'GET' : 'POST' },
      (response) => {
        response.on('error', reject).on('end', () => {
          resolve({ ms: performance.now() - startedAt, status: response.statusCode ?? 0 });
        });
        response.resume();
      },
    );
    sent.on('error', reject).end(body);
  });
}

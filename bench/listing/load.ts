import { Agent, request } from 'node:http';

/** Clients that ask without pause, each on a connection of its own. */
const CLIENTS = 4;

const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

/** Asks for a path over and over. @returns milliseconds from the request to its last byte */
export async function measure(base: string, path: string, requests: number): Promise<number[]> {
  const times: number[] = [];
  const client = async () => {
    while (times.length < requests) {
      const startedAt = performance.now();
      await get(`${base}${path}`);
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return times;
}

/** @returns size of the body */
export function get(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on('end', () =>
        response.statusCode === 200 ? resolve(bytes) : reject(new Error(`${response.statusCode} ${url}`)),
      );
      response.on('error', reject);
    });
    sent.on('error', reject).end();
  });
}

export function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRestClient, type RequestOf } from 'pool-trading-data-client/rest';

// A quote update and its cancellation: market-maker URL CHAIN_ID API_KEY FILE. The file has `tx`, the signed
// transaction, `blockNumber`, the block it is valid for, and on Ethereum `quoteAddress`,
// `poolAddresses` and `assetPairs`.
const [url = '', chain, apiKey, file = ''] = process.argv.slice(2);
type Update = Omit<RequestOf<'submitQuoteUpdate'>, 'chainId' | 'replacementUuid' | 'replacementSeqNumber'>;
const update = JSON.parse(await readFile(file, 'utf8')) as Update;

const client = createRestClient(url, { apiKey });
const replacementUuid = `0x${randomBytes(16).toString('hex')}`;

/** Sends an update; each needs a higher sequence number. A late update is of no use, so it is retried only briefly. */
async function submit(tx: string, replacementSeqNumber: bigint): Promise<void> {
  const request = { ...update, chainId: Number(chain), tx, replacementUuid, replacementSeqNumber };
  const { accepted, providers } = await client.submitQuoteUpdate(request, { deadlineMs: 2_000 });
  const open = providers
    .filter((provider) => !provider.accepted)
    .map(({ provider, error }) => `${provider}: ${error ?? 'pending'}`);
  process.stdout.write(`${replacementSeqNumber} ${accepted ? 'accepted' : 'not accepted'} ${open.join(', ')}\n`);
}

try {
  await submit(update.tx, 1n);
} finally {
  await submit('0x', 2n);
}

import fc from 'fast-check';
import { ONCHAIN_SCHEMA } from '../../test/harness/onchain-tables.ts';
import { seedAddress } from '../../test/harness/seed-pools.ts';
import { CHAINS, type ChangingIndex, POOLS, TOKENS } from './changing-index.fixture.ts';

const chain = fc.constantFrom(...CHAINS);
const n = fc.integer({ min: 0, max: POOLS + 3 });
const token = fc.constantFrom(...TOKENS);
const run = (action: (index: ChangingIndex) => Promise<unknown>) => action;

/** Something that happens between two refreshes. */
export const anyAction = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(chain, n, fc.constantFrom(0, 1, 3, 100, 5_000), fc.integer({ min: 1, max: 900 }))
      .map(([chainId, pool, liquidity, gain]) => run((index) => index.trade(chainId, pool, liquidity, gain))),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(1, 20, 3_600, 40_000, 86_400, 700_000).map((secs) =>
      run(async (index) => {
        for (const chainId of CHAINS) await index.moveHead(chainId, 1, secs);
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(chain, fc.constantFrom(-70, -5, 1, 30, 59, 100))
      .map(([chainId, secs]) => run((index) => index.moveHead(chainId, Math.sign(secs), secs))),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(chain, token, fc.constantFrom(0, 0.1, 1, 2_000), fc.constantFrom(0, 0, 601, 86_401))
      .map(([chainId, address, usd, age]) =>
        run((index) =>
          index.sql.query(
            `INSERT INTO operator.fiat_price VALUES ($1, $2, $3, 'static', to_timestamp($4))
       ON CONFLICT (chain_id, token) DO UPDATE SET usd = excluded.usd, priced_at = excluded.priced_at`,
            [chainId, address, usd, Date.now() / 1_000 - age],
          ),
        ),
      ),
  },
  { weight: 5, arbitrary: fc.constant(run((index) => index.reorganise())) },
  { weight: 3, arbitrary: fc.constant(run((index) => index.remember())) },
  { weight: 1, arbitrary: fc.constant(run((index) => index.restore('index'))) },
  { weight: 1, arbitrary: fc.constant(run((index) => index.restore('listing'))) },
  {
    weight: 1,
    arbitrary: fc.constant(run((index) => index.restore('both'))),
  },
  { weight: 1, arbitrary: fc.constant(run((index) => index.loseConnections())) },
  {
    weight: 2,
    arbitrary: fc.tuple(chain, n).map(([chainId, pool]) => run((index) => index.commitLate(chainId, pool))),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('stop_loss' as const, 'allowlist' as const), chain, n)
      .map((setting) => run((index) => index.setExtension(...setting))),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(chain, fc.integer({ min: POOLS, max: POOLS + 3 }))
      .map(([chainId, pool]) => run((index) => index.createPool(chainId, pool).catch(() => undefined))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(chain, n, fc.integer({ min: 1, max: 3 }))
      .map(([chainId, pool, admin]) =>
        run((index) =>
          index.sql.query(`UPDATE ${ONCHAIN_SCHEMA}.pool SET admin = $3 WHERE chain_id = $1 AND address = $2`, [
            chainId,
            seedAddress(0x1000 + pool),
            seedAddress(admin),
          ]),
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(chain, n, fc.constantFrom('anchored', 'regular')).map(([chainId, pool, kind]) =>
      run((index) =>
        index.sql.query(
          `INSERT INTO ${ONCHAIN_SCHEMA}.price_provider (chain_id, address, kind, factory, creator, oracle, base, quote, margin_step,
       base_feed_id, block_number, block_timestamp) VALUES ($1, $2, $3, $2, $2, $2, $2, $2, 1, $4, 1, 1)
     ON CONFLICT (chain_id, address) DO UPDATE SET kind = excluded.kind`,
          [chainId, seedAddress(0x9 + pool), kind, `0x${'ab'.repeat(32)}`],
        ),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(chain, token, fc.constantFrom('A', 'B'))
      .map(([chainId, address, symbol]) =>
        run((index) =>
          index.sql.query(`UPDATE ${ONCHAIN_SCHEMA}.token SET symbol = $3 WHERE chain_id = $1 AND address = $2`, [
            chainId,
            address,
            symbol,
          ]),
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(chain, fc.integer({ min: 1, max: 3 }), fc.boolean()).map(([chainId, admin, verified]) =>
      run((index) =>
        index.sql.query(
          `INSERT INTO operator.curator (chain_id, address, username, verified) VALUES ($1, $2, 'Alice', $3)
     ON CONFLICT (chain_id, address) DO UPDATE SET verified = excluded.verified`,
          [chainId, seedAddress(admin), verified],
        ),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('curator', 'delisted_pool')
      .map((name) => run((index) => index.sql.query(`DELETE FROM operator.${name}`))),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(chain, n)
      .map(([chainId, pool]) =>
        run((index) =>
          index.sql.query(
            `INSERT INTO operator.delisted_pool (chain_id, pool) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
            [chainId, seedAddress(0x1000 + pool)],
          ),
        ),
      ),
  },
);

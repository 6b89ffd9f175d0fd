import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Quote } from '../api/quotes/quote-schema.ts';
import { PoolRecord } from '../db/listing/pool-record.ts';
import { FIGURES, REASONS, STATUSES, TIERS } from './glossary-terms.ts';

test('every reason that the classification can give is explained, and the reserved ones', () => {
  const rules = readFileSync(new URL('../protocol/classification.ts', import.meta.url), 'utf8');
  const codes = [...rules.matchAll(/code: '(\w+)'/g)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThanOrEqual(16);
  const reserved = ['reference_source_unrecognized', 'external_source_unreviewed'];
  expect(Object.keys(REASONS).sort()).toEqual([...codes, ...reserved].sort());
});

test('every status and tier that an answer can have is explained', () => {
  const { priceProviderStatus, classificationSummary } = PoolRecord.shape;
  const statuses = [...priceProviderStatus.options, ...Quote.shape.priceProviderStatus.options];
  expect(new Set(Object.keys(STATUSES))).toEqual(new Set(statuses));
  expect(Object.keys(TIERS).sort()).toEqual([...classificationSummary.shape.tierQualification.options].sort());
});

test('every term has words', () => {
  for (const terms of [REASONS, STATUSES, TIERS, FIGURES]) {
    for (const { label, meaning } of Object.values(terms)) {
      expect([label, meaning].every((text) => text.length > 0)).toBe(true);
    }
  }
});

// The shop over HTTP: an order that is placed, approved and shipped; rejected, out of stock, cancelled; or shown while it waits.

import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import { DataSource } from 'typeorm';
import { ExecutionService } from '../src/index.js';
import { eventually, useTestDatabase } from '../test/support/index.js';
import { AppModule } from './app.module.js';
import { LedgerEntry, Order, Stock } from './orders/order.entity.js';

const customer = { email: 'kim@example.com', address: { street: '1 Harbour Rd', city: 'Oslo', zip: '0150' } };
const lamp = (quantity: number) => [{ sku: 'LAMP-3', price: 129.5, quantity }];

describe('the shop', () => {
  const database = useTestDatabase();
  let app: INestApplication<Server>;
  let source: DataSource;

  beforeAll(async () => {
    const shop = AppModule.with({
      databaseUrl: database.url,
      policy: { reviewAfter: '50ms' },
      rhythm: { database: { url: database.url, schema: database.schema, maxConnections: 12 }, worker: { pollInterval: '200ms' } },
    });
    const module = await Test.createTestingModule({ imports: [shop] }).compile();
    app = module.createNestApplication({ logger: false });
    await app.init();
    source = app.get(DataSource);
  });
  afterAll(() => app?.close());

  const http = () => request(app.getHttpServer());
  const place = (id: string, items = lamp(1)) => http().post('/orders').send({ id, customer, items });
  const result = (id: string) => app.get(ExecutionService).result(id, { timeout: '15s' });
  const ledger = async (orderId: string) =>
    (await source.getRepository(LedgerEntry).find({ where: { orderId }, order: { id: 'ASC' } })).map((entry) => entry.kind);
  const stock = async () => (await source.getRepository(Stock).findOneByOrFail({ sku: 'LAMP-3' })).available;

  it('ships a small order without approval', async () => {
    await place('small').expect(202, { id: 'small' });
    expect(await result('small')).toEqual({ orderId: 'small', total: 129.5, tracking: 'OS-small-1' });
    expect((await ledger('small')).sort()).toEqual(['label', 'payment', 'reservation']);
    expect(await source.getRepository(Order).findOneBy({ id: 'small' })).toMatchObject({ status: 'done', tracking: 'OS-small-1' });
  });

  it('waits for the approval of a large order, and shows the line at which it waits', async () => {
    await place('large', lamp(5)).expect(202);
    await eventually(async () => {
      const { body } = await http().get('/orders/large').expect(200);
      expect(body).toMatchObject({ status: 'waiting for approval', execution: 'suspended' });
      expect(body.where.text).toMatch(/sample-app\/flows\/order\.flow:\d+/);
      const frame = body.where.branches[0].stack[0];
      expect(frame.sourceLine).toContain('Signal.when("approval"');
      expect(frame.locals).toMatchObject({ total: 647.5 });
    });
    await http()
      .post('/orders/large/approval')
      .send({ approved: true, by: 'ann' })
      .expect(202, { accepted: true, known: true, ended: false });
    const second = await http().post('/orders/large/approval').send({ approved: false, by: 'bob' }).expect(202);
    expect(second.body).toMatchObject({ accepted: false, known: true });
    expect(await result('large')).toMatchObject({ tracking: 'OS-large-1' });
  });

  it('refunds the payment and releases the stock when the approval is refused', async () => {
    const before = await stock();
    await place('refused', lamp(5)).expect(202);
    await http().post('/orders/refused/approval').send({ approved: false, by: 'ann' }).expect(202);
    expect(await result('refused')).toMatchObject({ cancelled: 'rejected by ann' });
    expect((await ledger('refused')).sort()).toEqual(['payment', 'refund', 'release', 'reservation']);
    expect(await stock()).toBe(before);
  });

  it('keeps no payment for goods that are out of stock', async () => {
    await place('greedy', [{ sku: 'LAMP-3', price: 0.01, quantity: 99_999 }]).expect(202);
    expect(await result('greedy')).toMatchObject({ cancelled: 'LAMP-3 is out of stock' });
    expect((await ledger('greedy')).sort()).toEqual(['payment', 'refund']);
  });

  it('reserves nothing when the bank refuses', async () => {
    const before = await stock();
    await place('rich', lamp(100)).expect(202);
    expect(await result('rich')).toMatchObject({ cancelled: 'the bank refused 12950' });
    expect(await stock()).toBe(before);
  });

  it('cancels an order that waits for approval, and cleans up', async () => {
    await place('regret', lamp(5)).expect(202);
    await eventually(async () =>
      expect((await source.getRepository(Order).findOneByOrFail({ id: 'regret' })).status).toBe('waiting for approval'),
    );
    await http().delete('/orders/regret').expect(202);
    await expect(result('regret')).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_CANCELLED' });
    expect((await ledger('regret')).sort()).toEqual(['payment', 'refund', 'release', 'reservation']);
    expect(await source.getRepository(Order).findOneBy({ id: 'regret' })).toMatchObject({ status: 'cancelled' });
  });

  it('places one order for a request that is sent twice, and refuses a different order with the same id', async () => {
    await Promise.all([place('twice').expect(202), place('twice').expect(202)]);
    await result('twice');
    await place('twice').expect(202);
    expect(await ledger('twice')).toHaveLength(3);
    const { body } = await place('twice', lamp(2)).expect(409);
    expect(body).toMatchObject({ statusCode: 409, error: 'Conflict', code: 'RHYTHM_CONFLICT' });
  });

  it('returns 400 for an invalid order and 404 for an unknown one', async () => {
    await http().post('/orders').send({ id: 'x' }).expect(400);
    await http().get('/orders/missing').expect(404);
    const { body } = await http().delete('/orders/missing').expect(404);
    expect(body.code).toBe('RHYTHM_NOT_FOUND');
  });
});

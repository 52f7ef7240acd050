// Stock: reserved and released in the same transaction as the task's result.

import { Injectable } from '@nestjs/common';
import { NonRetryableError, Task, type TaskContext } from '../../src/index.js';
import { LedgerEntry, type OrderItem, Stock } from './order.entity.js';

interface Reservation {
  orderId: string;
  items: OrderItem[];
}

@Injectable()
export class StockTasks {
  @Task('reserve-stock', { transactional: true })
  async reserve({ orderId, items }: Reservation, { manager }: TaskContext) {
    // In one fixed order, so that two orders cannot deadlock.
    for (const { sku, quantity } of [...items].sort((a, b) => (a.sku < b.sku ? -1 : 1))) {
      const { affected } = await manager
        .createQueryBuilder()
        .update(Stock)
        .set({ available: () => 'available - :quantity' })
        .where('sku = :sku AND available >= :quantity', { sku, quantity })
        .execute();
      if (affected !== 1) throw new NonRetryableError(`${sku} is out of stock`, { code: 'OUT_OF_STOCK', data: { sku } });
    }
    await manager.save(LedgerEntry, { orderId, kind: 'reservation' });
    return { items };
  }

  @Task('release-stock', { transactional: true })
  async release({ orderId, items }: Reservation, { manager }: TaskContext) {
    for (const { sku, quantity } of [...items].sort((a, b) => (a.sku < b.sku ? -1 : 1))) {
      await manager.increment(Stock, { sku }, 'available', quantity);
    }
    await manager.save(LedgerEntry, { orderId, kind: 'release' });
  }
}

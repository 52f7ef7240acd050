// Payments: authorised and refunded in the same transaction as the task's result, so each happens exactly once.

import { Injectable } from '@nestjs/common';
import { NonRetryableError, Task, type TaskContext } from '../../src/index.js';
import { LedgerEntry } from './order.entity.js';

@Injectable()
export class PaymentTasks {
  @Task('authorize-payment', { transactional: true })
  async authorize({ orderId, amount }: { orderId: string; amount: number }, ctx: TaskContext) {
    // The bank would refuse another attempt too, so there is no retry.
    if (amount > 10_000) throw new NonRetryableError(`the bank refused ${amount}`, { code: 'CARD_DECLINED', data: { limit: 10_000 } });
    const entry = await ctx.manager.save(LedgerEntry, { orderId, kind: 'payment', amount: String(amount) });
    return { paymentId: entry.id };
  }

  @Task('refund-payment', { transactional: true })
  async refund({ orderId, paymentId }: { orderId: string; paymentId: number }, ctx: TaskContext) {
    const payment = await ctx.manager.findOneByOrFail(LedgerEntry, { id: paymentId });
    await ctx.manager.save(LedgerEntry, { orderId, kind: 'refund', amount: payment.amount });
  }
}

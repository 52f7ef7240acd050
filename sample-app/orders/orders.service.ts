// Places, cancels and shows orders.

import { Inject, Injectable, NotFoundException } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { ExecutionService } from '../../src/index.js';
import { type Customer, Order, type OrderItem } from './order.entity.js';

export interface NewOrder {
  id: string;
  customer: Customer;
  items: OrderItem[];
}

/** When an order needs approval, and how long things may take; the demo and the tests shorten them. */
export interface OrderPolicy {
  approvalAbove: number;
  approvalTimeout: string;
  reviewAfter: string;
}

export const ORDER_POLICY = Symbol('OrderPolicy');

@Injectable()
export class OrdersService {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly executions: ExecutionService,
    @Inject(ORDER_POLICY) private readonly policy: OrderPolicy,
  ) {}

  /** The order's row and its workflow are committed together, or neither exists. */
  async place({ id, customer, items }: NewOrder): Promise<{ id: string }> {
    return this.database.transaction(async (manager) => {
      const { created } = await this.executions.start(
        'order',
        { orderId: id, customer, items, policy: this.policy },
        { id, tags: ['shop'], manager },
      );
      if (created) await manager.insert(Order, { id, customer, items });
      return { id };
    });
  }

  async cancel(id: string): Promise<void> {
    await this.executions.cancel(id, { reason: 'cancelled by the customer' });
  }

  /** The shop's view of an order, and the line of the flow that it has reached. */
  async show(id: string) {
    const order = await this.database.manager.findOneBy(Order, { id });
    if (!order) throw new NotFoundException(`There is no order ${id}.`);
    const { status: execution } = await this.executions.get(id);
    const where = await this.executions.inspect(id);
    return { ...order, execution, where };
  }
}

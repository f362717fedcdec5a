//! What a driver does with what comes in.

use super::driver::Driver;
use super::protocol::{Arrival, Event, NotificationVerdict, Protocol, RequestVerdict};
use super::state::Command;
use crate::link::v1::{Incoming, Link};
use crate::service::v1::{AskError, Call, Inbound, Service};
use crate::{ErrorObject, Fault, FaultKind, Message, Notification, Outgoing, Request, Response};

impl<L: Link, P: Protocol, S: Service> Driver<L, P, S> {
    pub(super) fn incoming(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Message(message, _) => self.message(message, None),
            Incoming::Batch(messages) => self.batch(messages),
            Incoming::Malformed(fault) => {
                let answer = self.malformed(&fault);
                self.push(answer.map(Command::Send));
            }
            Incoming::StreamEnded { id, cause } => {
                self.shared.complete(&id, Err(AskError::Link(cause)));
            }
        }
    }

    /// What still comes in while this side closes. It goes on reading, since a peer that can't
    /// write may not read either; and a response that was on its way is welcome.
    pub(super) fn last_incoming(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Message(Message::Response(response), _) => self.response(response),
            Incoming::Malformed(fault) => self.fail_by_fault(&fault),
            Incoming::Message(..) | Incoming::Batch(_) | Incoming::StreamEnded { .. } => {}
        }
    }

    /// The answer to what is no message.
    fn malformed(&mut self, fault: &Fault) -> Option<Outgoing> {
        self.fail_by_fault(fault);
        self.protocol.malformed(fault).filter(|_| fault.is_answered())
    }

    /// A response that can't be read still ends the call that waits for it.
    fn fail_by_fault(&self, fault: &Fault) {
        if fault.response
            && let Some(id) = &fault.id
        {
            self.shared.complete(id, Err(AskError::Malformed(fault.kind)));
        }
    }

    fn message(&mut self, message: Message, batch: Option<u64>) {
        let arrival = Arrival { in_batch: batch.is_some() };
        match message {
            Message::Request(request) => self.request(request, arrival, batch),
            Message::Notification(notification) => self.notification(notification, arrival),
            Message::Response(response) => self.response(response),
        }
    }

    fn request(&mut self, request: Request, arrival: Arrival, batch: Option<u64>) {
        let refusal = if self.exchanges.contains(&request.id) {
            ErrorObject::invalid_request("a request with this id is being served")
        } else if self.is_full() {
            self.protocol.overloaded()
        } else {
            match self.protocol.request(&request, arrival) {
                RequestVerdict::Serve(extensions) => {
                    let id = Some(request.id.clone());
                    let exchange = self.exchange(id, request.method.clone(), batch);
                    let inbound = Inbound::new(Call::Request(request)).with_extensions(extensions);
                    return self.start(exchange, inbound);
                }
                RequestVerdict::Refuse(error) => error,
            }
        };
        self.respond(batch, Outgoing::error(Some(request.id), &refusal));
    }

    fn notification(&mut self, notification: Notification, arrival: Arrival) {
        match self.protocol.notification(&notification, arrival) {
            NotificationVerdict::Serve(_) if self.is_full() => {
                let event = Event::NotificationDropped { method: &notification.method };
                self.protocol.observe(&event);
            }
            NotificationVerdict::Serve(extensions) => {
                let exchange = self.exchange(None, notification.method.clone(), None);
                let call = Call::Notification(notification);
                self.start(exchange, Inbound::new(call).with_extensions(extensions));
            }
            NotificationVerdict::Cancel { id } => {
                if let Some(exchange) = self.exchanges.cancel(&id) {
                    self.protocol.observe(&Event::Canceled { id: &id });
                    self.close_member(exchange.batch, None);
                }
            }
            NotificationVerdict::Drop => {}
        }
    }

    fn response(&mut self, response: Response) {
        let Some(id) = response.id.clone() else {
            self.protocol.observe(&match &response.outcome {
                Err(error) => Event::PeerError { error },
                Ok(_) => Event::UnknownResponse { id: None },
            });
            return;
        };
        if !self.shared.complete(&id, Ok(response)) {
            self.protocol.observe(&Event::UnknownResponse { id: Some(&id) });
        }
    }

    fn batch(&mut self, messages: Vec<Result<Message, Fault>>) {
        if !self.protocol.batches() {
            return self.refuse_batch(messages);
        }
        let number = self.batches.open();
        for message in messages {
            match message {
                Ok(message) => {
                    if let Message::Request(_) = message {
                        self.batches.add(number);
                    }
                    self.message(message, Some(number));
                }
                Err(fault) => {
                    if let Some(answer) = self.malformed(&fault) {
                        self.batches.push(number, answer);
                    }
                }
            }
        }
        self.close_member(Some(number), None);
    }

    fn refuse_batch(&mut self, messages: Vec<Result<Message, Fault>>) {
        let kind = FaultKind::NoBatches;
        let mut fault = Fault::new(kind);
        fault.response = true;
        for message in messages {
            match message {
                // Whoever waits for this gets no other.
                Ok(Message::Response(Response { id: Some(id), .. })) => {
                    self.shared.complete(&id, Err(AskError::Malformed(kind)));
                }
                Ok(Message::Response(_)) => {}
                Err(inner) if inner.response => self.fail_by_fault(&inner),
                Ok(Message::Request(_) | Message::Notification(_)) | Err(_) => {
                    fault.response = false;
                }
            }
        }
        let answer = self.malformed(&fault);
        self.push(answer.map(Command::Send));
    }
}

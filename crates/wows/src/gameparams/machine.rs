//! An interpreter for pickle bytecode that calls nothing.
//!
//! It decodes values into flat arenas ([`arena`](super::arena)), in one pass. The memory of the stack, the memo and the arenas
//! is bounded by a multiple of the pickle's size: an opcode of one byte could otherwise request a large value.

use super::arena::{CONTAINER, Container, ContainerKind, PART, Pickle, Words};
use super::leaf::{line, sized};
use super::op;
use crate::bytes::{View, le};
use crate::error::{Error, ErrorKind, Result};
use crate::source::Source;

/// Bytes of stack, memo and arenas for each byte of a pickle. The pickle of the game needs 1.5.
const ROOM: usize = 6;
/// Bytes of stack, memo and arenas that any pickle may need.
const LEAST_ROOM: usize = 1 << 16;
/// Why numbers of values fit 31 bits.
const SMALL: &str = "each value has a byte of the pickle, which has less than 2 GiB";
/// A memo slot that was not set.
const UNSET: u32 = u32::MAX;
const MODULE: &[u8] = b"GameParams";

/// A budget for the growth of the arenas, in bytes.
struct Room {
    left: usize,
    limit: usize,
}

impl Room {
    /// Appends `value`; doubles the capacity when it is used up.
    #[inline]
    fn push<T>(&mut self, vec: &mut Vec<T>, value: T) -> std::result::Result<(), ErrorKind> {
        if vec.len() == vec.capacity() {
            self.grow(vec, 1)?;
        }
        vec.push(value);
        Ok(())
    }

    #[cold]
    fn grow<T>(&mut self, vec: &mut Vec<T>, by: usize) -> std::result::Result<(), ErrorKind> {
        let more = by.max(vec.capacity()).max(64);
        let bytes = more.saturating_mul(size_of::<T>());
        match self.left.checked_sub(bytes) {
            Some(left) if vec.try_reserve_exact(more).is_ok() => {
                self.left = left;
                Ok(())
            }
            _ => {
                let value = self.limit.saturating_sub(self.left).saturating_add(bytes) as u64;
                Err(ErrorKind::Limit { what: "bytes of values in memory", value, limit: self.limit as u64 })
            }
        }
    }
}

/// Cells that were added to a container after its first cells were stored.
#[derive(Clone, Copy)]
struct Stretch {
    owner: u32,
    start: u32,
    len: u32,
}

struct Machine<'a> {
    view: View<'a>,
    at: usize,
    stack: Vec<u32>,
    /// Heights of the stack at its marks.
    marks: Vec<u32>,
    memo: Vec<u32>,
    /// Slots of the memo that were set.
    memorized: usize,
    cells: Vec<le::U32>,
    containers: Vec<Container>,
    stretches: Vec<Stretch>,
    room: Room,
    protocol: u8,
}

impl Pickle {
    /// Reads the pickle that `data` holds. Nothing in it is called, whatever it names: objects keep the name of their class
    /// and their attributes.
    ///
    /// # Errors
    /// `Unsupported` for opcodes and globals that pickles of the game do not have, `Damaged` where the program makes no
    /// sense, `OutOfBounds`, and `Limit`.
    pub fn read(data: Source) -> Result<Self> {
        let size = data.bytes().len();
        let view = View::new(data.bytes(), PART);
        if size >= CONTAINER as usize {
            let kind = ErrorKind::Limit { what: "bytes of a pickle", value: size as u64, limit: CONTAINER.into() };
            return Err(view.error(kind));
        }
        let limit = size.saturating_mul(ROOM).max(LEAST_ROOM);
        let mut machine = Machine {
            view,
            at: 0,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
            memorized: 0,
            cells: Vec::new(),
            containers: Vec::new(),
            stretches: Vec::new(),
            room: Room { left: limit, limit },
            protocol: 0,
        };
        let root = machine.run()?;
        let (protocol, end) = (machine.protocol, machine.at);
        let (mut cells, containers) = machine.gather()?;
        cells.shrink_to_fit();
        let containers: Vec<[le::U32; 2]> = containers.into_iter().map(Container::to_words).collect();
        let end = u32::try_from(end).expect(SMALL);
        Ok(Self { cells: Words::new(cells), containers: Words::new(containers), root, protocol, end, data })
    }
}

impl<'a> Machine<'a> {
    fn here(&self) -> View<'a> {
        self.view.at(self.at)
    }

    #[cold]
    fn damaged(&self, what: impl Into<String>) -> Error {
        self.here().error(ErrorKind::damaged(what.into()))
    }

    #[cold]
    fn full(&self, kind: ErrorKind) -> Error {
        self.here().error(kind)
    }

    /// The bytes after an opcode that has `N` bytes of operand, as a number.
    #[inline]
    fn operand<const N: usize>(&self) -> Result<usize> {
        let bytes = self.here().skip(1).take(N)?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    #[inline]
    fn push(&mut self, cell: u32) -> Result<()> {
        self.room.push(&mut self.stack, cell).map_err(|kind| self.view.at(self.at).error(kind))
    }

    /// The height of the stack at the last mark, or 0 without marks.
    #[inline]
    fn floor(&self) -> usize {
        self.marks.last().map_or(0, |mark| *mark as usize)
    }

    #[inline]
    fn pop(&mut self) -> Result<u32> {
        if self.stack.len() <= self.floor() {
            return Err(self.damaged("nothing is on the stack"));
        }
        self.stack.pop().ok_or_else(|| self.damaged("nothing is on the stack"))
    }

    #[inline]
    fn top(&self) -> Result<u32> {
        self.stack.last().copied().ok_or_else(|| self.damaged("nothing is on the stack"))
    }

    /// Pops the last mark. Returns the height of the stack that it recorded.
    #[inline]
    fn mark(&mut self) -> Result<usize> {
        self.marks.pop().map(|mark| mark as usize).ok_or_else(|| self.damaged("no mark is set"))
    }

    #[inline]
    fn shape(&self, cell: u32) -> Option<ContainerKind> {
        if cell & CONTAINER == 0 {
            return None;
        }
        self.containers.get((cell & !CONTAINER) as usize).map(|container| container.shape())
    }

    fn name_of(&self, cell: u32) -> &'static str {
        self.shape(cell).map_or("a value without values in it", ContainerKind::name)
    }

    /// Pops the cells of the stack from `from` on, and returns a container of them.
    fn collect(&mut self, shape: ContainerKind, from: usize) -> Result<u32> {
        let start = self.cells.len();
        let count = self.move_cells(from)?;
        self.container(shape, start, count)
    }

    fn container(&mut self, shape: ContainerKind, start: usize, count: u32) -> Result<u32> {
        let number = u32::try_from(self.containers.len()).expect(SMALL);
        let container = Container::new(shape, u32::try_from(start).expect(SMALL), count);
        let pushed = self.room.push(&mut self.containers, container);
        pushed.map_err(|kind| self.full(kind))?;
        Ok(number | CONTAINER)
    }

    /// Moves the cells of the stack from `from` on to the arena. Returns their number.
    #[inline]
    fn move_cells(&mut self, from: usize) -> Result<u32> {
        let count = self.stack.len().saturating_sub(from);
        if self.cells.capacity().saturating_sub(self.cells.len()) < count {
            self.room.grow(&mut self.cells, count).map_err(|kind| self.full(kind))?;
        }
        self.cells.extend(self.stack.drain(from..).map(le::U32::new));
        u32::try_from(count).ok().filter(|count| *count <= Container::MOST).ok_or_else(|| {
            let (value, limit) = (count as u64, Container::MOST.into());
            self.full(ErrorKind::Limit { what: "values of a container", value, limit })
        })
    }

    /// Appends the cells of the stack from `from` on to the container `owner`.
    fn append(&mut self, owner: u32, from: usize) -> Result<()> {
        let start = u32::try_from(self.cells.len()).expect(SMALL);
        let count = self.move_cells(from)?;
        if count == 0 {
            return Ok(());
        }
        let number = owner & !CONTAINER;
        let Some(container) = self.containers.get_mut(number as usize) else { return Ok(()) };
        let before = *container;
        let grown = container.grow(count);
        if before.len() == 0 {
            container.start = start;
        } else if before.is_scattered() || before.start.saturating_add(before.len()) != start {
            if !before.is_scattered() {
                container.scatter();
                self.add_stretch(Stretch { owner: number, start: before.start, len: before.len() })?;
            }
            match self.stretches.last_mut() {
                Some(last) if last.owner == number && last.start.saturating_add(last.len) == start => {
                    last.len = last.len.saturating_add(count);
                }
                _ => self.add_stretch(Stretch { owner: number, start, len: count })?,
            }
        }
        grown.ok_or_else(|| {
            let value = u64::from(before.len()).saturating_add(count.into());
            self.full(ErrorKind::Limit { what: "values of a container", value, limit: Container::MOST.into() })
        })
    }

    fn add_stretch(&mut self, stretch: Stretch) -> Result<()> {
        self.room.push(&mut self.stretches, stretch).map_err(|kind| self.full(kind))
    }

    /// The container below the cells of the stack from `from` on, which must be one of `shape`.
    #[inline]
    fn owner(&self, from: usize, shape: ContainerKind) -> Result<u32> {
        let below = from.checked_sub(1).filter(|below| *below >= self.floor());
        let Some(owner) = below.and_then(|below| self.stack.get(below).copied()) else {
            return Err(self.damaged("nothing is on the stack"));
        };
        if self.shape(owner) != Some(shape) {
            let what = format!("{} is needed to put values into, not {}", shape.name(), self.name_of(owner));
            return Err(self.damaged(what));
        }
        Ok(owner)
    }

    /// Checks that the stack from `from` on holds keys and values in turns, and keys are of kinds that Python takes.
    #[inline]
    fn pairs(&self, from: usize) -> Result<()> {
        let Some(cells) = self.stack.get(from..) else { return Err(self.damaged("too little is on the stack")) };
        let (pairs, left) = cells.as_chunks::<2>();
        if !left.is_empty() {
            return Err(self.damaged("a key without a value"));
        }
        for [key, _] in pairs {
            if key & CONTAINER != 0 && self.shape(*key) != Some(ContainerKind::Tuple) {
                return Err(self.damaged(format!("{} is a key", self.name_of(*key))));
            }
        }
        Ok(())
    }

    fn put(&mut self, slot: usize) -> Result<()> {
        /// Slots that a pickle may leave out at once: Python 2 leaves out the first one.
        const GAP: usize = 1 << 12;
        let cell = self.top()?;
        let len = self.memo.len();
        if slot >= len.saturating_add(GAP) {
            let kind = ErrorKind::Limit { what: "slot of the memo", value: slot as u64, limit: len as u64 };
            return Err(self.full(kind));
        }
        if let Some(old) = self.memo.get_mut(slot) {
            if *old == UNSET {
                self.memorized = self.memorized.saturating_add(1);
            }
            *old = cell;
            return Ok(());
        }
        for _ in len..slot {
            self.room.push(&mut self.memo, UNSET).map_err(|kind| self.full(kind))?;
        }
        self.memorized = self.memorized.saturating_add(1);
        self.room.push(&mut self.memo, cell).map_err(|kind| self.full(kind))
    }

    fn get(&mut self, slot: usize) -> Result<()> {
        match self.memo.get(slot).copied().filter(|cell| *cell != UNSET) {
            Some(cell) => self.push(cell),
            None => Err(self.damaged(format!("slot {slot} of the memo is empty"))),
        }
    }

    /// The slot that a line names.
    fn slot(&self) -> Result<usize> {
        let line = line(self.here().skip(1))?;
        let digits = std::str::from_utf8(line).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let slot = digits.and_then(|digits| digits.parse().ok());
        slot.ok_or_else(|| self.damaged(format!("{:?} is no slot of the memo", String::from_utf8_lossy(line))))
    }

    /// The class or function that a pickle names; none is ever looked up.
    fn global(&mut self, module: &[u8], name: &[u8], cell: u32) -> Result<u32> {
        match (module, name) {
            (b"copy_reg" | b"copyreg", b"_reconstructor") => self.container(ContainerKind::Reconstructor, 0, 0),
            (b"__builtin__" | b"builtins", b"object") => self.container(ContainerKind::Base, 0, 0),
            (MODULE, name) if !name.is_empty() => {
                let from = self.stack.len();
                self.push(cell)?;
                self.collect(ContainerKind::Class, from)
            }
            _ => {
                let [module, name] = [module, name].map(|all| String::from_utf8_lossy(all.get(..64).unwrap_or(all)));
                let what = format!("the global {module}.{name}, which parameters of the game do not use,");
                Err(self.here().error(ErrorKind::Unsupported { what: what.into() }))
            }
        }
    }

    /// The cells of a container that was made at once.
    fn cells_of(&self, cell: u32, shape: ContainerKind) -> Option<&[le::U32]> {
        let container =
            self.containers.get((cell & !CONTAINER) as usize).filter(|_| self.shape(cell) == Some(shape))?;
        let start = container.start as usize;
        self.cells.get(start..start.saturating_add(container.len() as usize))
    }

    /// An object of the class in `cell`, without attributes yet.
    fn object(&mut self, class: u32) -> Result<()> {
        let Some([name]) = self.cells_of(class, ContainerKind::Class) else {
            return Err(self.damaged(format!("an object is made of {}", self.name_of(class))));
        };
        let name = name.get();
        let from = self.stack.len();
        self.push(name)?;
        let object = self.collect(ContainerKind::Object, from)?;
        self.push(object)
    }

    /// `copy_reg._reconstructor(class, object, None)`: the one call that is taken for what it means.
    fn reduce(&mut self) -> Result<()> {
        let (args, function) = (self.pop()?, self.pop()?);
        if self.shape(function) != Some(ContainerKind::Reconstructor) {
            return Err(self.damaged(format!("{} is called", self.name_of(function))));
        }
        match self.cells_of(args, ContainerKind::Tuple) {
            Some([class, base, state])
                if self.shape(base.get()) == Some(ContainerKind::Base)
                    && self.view.data().get(state.get() as usize) == Some(&op::NONE) =>
            {
                self.object(class.get())
            }
            _ => Err(self.damaged("copy_reg._reconstructor takes a class, object and None")),
        }
    }

    /// `class.__new__(class)`.
    fn new_object(&mut self) -> Result<()> {
        let (args, class) = (self.pop()?, self.pop()?);
        match self.cells_of(args, ContainerKind::Tuple) {
            Some([]) => self.object(class),
            _ => Err(self.damaged("an object is made with arguments")),
        }
    }

    /// Sets the attributes of an object.
    fn build(&mut self) -> Result<()> {
        let state = self.top()?;
        let from = self.stack.len().saturating_sub(1);
        let owner = self.owner(from, ContainerKind::Object)?;
        if self.shape(state) != Some(ContainerKind::Dict) {
            return Err(self.damaged(format!("the attributes of an object are {}", self.name_of(state))));
        }
        if self.containers.get((owner & !CONTAINER) as usize).is_some_and(|object| object.len() > 1) {
            return Err(self.damaged("an object gets attributes twice"));
        }
        self.append(owner, from)
    }

    /// Runs the program up to its end. Returns the value that it leaves.
    fn run(&mut self) -> Result<u32> {
        loop {
            let Some(&code) = self.view.data().get(self.at) else {
                return Err(self.damaged("the pickle ends without STOP"));
            };
            let cell = u32::try_from(self.at).expect(SMALL);
            let operand = match code {
                op::STOP => return self.stop(),
                _ => self.step(code, cell)?,
            };
            self.at = self.at.saturating_add(1).saturating_add(operand);
        }
    }

    fn stop(&mut self) -> Result<u32> {
        let root = self.pop()?;
        if !self.stack.is_empty() || !self.marks.is_empty() {
            return Err(self.damaged("more than one value is left at the end"));
        }
        self.at = self.at.saturating_add(1);
        Ok(root)
    }

    /// Runs an opcode. Returns the size of its operand.
    #[inline(always)]
    fn step(&mut self, code: u8, cell: u32) -> Result<usize> {
        let operand = self.here().skip(1);
        match code {
            op::BINFLOAT => self.value(cell, operand.take(8)?.len()),
            op::LONG_BINGET => self.get(self.operand::<4>()?).map(|()| 4),
            op::LONG_BINPUT => self.put(self.operand::<4>()?).map(|()| 4),
            op::BINGET => self.get(self.operand::<1>()?).map(|()| 1),
            op::BINPUT => self.put(self.operand::<1>()?).map(|()| 1),
            op::BININT1 => self.value(cell, operand.take(1)?.len()),
            op::BININT2 => self.value(cell, operand.take(2)?.len()),
            op::BININT => self.value(cell, operand.take(4)?.len()),
            op::NONE | op::TRUE | op::FALSE => self.value(cell, 0),
            op::BINUNICODE | op::BINSTRING | op::BINBYTES | op::LONG4 => {
                self.value(cell, sized::<4>(operand)?.len().saturating_add(4))
            }
            op::SHORT_BINUNICODE | op::SHORT_BINSTRING | op::SHORT_BINBYTES | op::LONG1 => {
                self.value(cell, sized::<1>(operand)?.len().saturating_add(1))
            }
            op::BINUNICODE8 | op::BINBYTES8 => self.value(cell, sized::<8>(operand)?.len().saturating_add(8)),
            op::INT | op::LONG | op::FLOAT | op::STRING | op::UNICODE => {
                self.value(cell, line(operand)?.len().saturating_add(1))
            }
            op::GET => {
                self.get(self.slot()?)?;
                Ok(line(operand)?.len().saturating_add(1))
            }
            op::PUT => {
                self.put(self.slot()?)?;
                Ok(line(operand)?.len().saturating_add(1))
            }
            op::GLOBAL => {
                let module = line(operand)?;
                let name = line(operand.skip(module.len().saturating_add(1)))?;
                let made = self.global(module, name, cell)?;
                self.value(made, module.len().saturating_add(name.len()).saturating_add(2))
            }
            op::PROTO => {
                const NEWEST: usize = 5;
                let protocol = self.operand::<1>()?;
                if self.at != 0 || protocol > NEWEST {
                    return Err(self.here().bad_value("protocol", protocol as i128));
                }
                self.protocol = u8::try_from(protocol).expect("at most 5");
                Ok(1)
            }
            op::FRAME => {
                let size = self.operand::<8>()?;
                operand.skip(8).take(size)?;
                Ok(8)
            }
            _ => self.step_on_stack(code).map(|()| 0),
        }
    }

    /// Pushes a value whose opcode has an operand of `size` bytes.
    #[inline(always)]
    fn value(&mut self, cell: u32, size: usize) -> Result<usize> {
        self.push(cell).map(|()| size)
    }

    /// Runs an opcode without an operand.
    #[inline(always)]
    fn step_on_stack(&mut self, code: u8) -> Result<()> {
        match code {
            op::MEMOIZE => self.put(self.memorized),
            op::MARK => {
                let height = u32::try_from(self.stack.len()).expect(SMALL);
                self.room.push(&mut self.marks, height).map_err(|kind| self.full(kind))
            }
            op::EMPTY_LIST => self.push_empty(ContainerKind::List),
            op::EMPTY_DICT => self.push_empty(ContainerKind::Dict),
            op::EMPTY_SET => self.push_empty(ContainerKind::Set),
            op::EMPTY_TUPLE => self.push_empty(ContainerKind::Tuple),
            op::LIST => self.push_marked(ContainerKind::List),
            op::TUPLE => self.push_marked(ContainerKind::Tuple),
            op::DICT => self.push_marked(ContainerKind::Dict),
            op::FROZENSET => self.push_marked(ContainerKind::Set),
            op::TUPLE1 | op::TUPLE2 | op::TUPLE3 => {
                let count = usize::from(code.saturating_sub(op::TUPLE1)).saturating_add(1);
                let from = self.stack.len().checked_sub(count).filter(|from| *from >= self.floor());
                let from = from.ok_or_else(|| self.damaged("too little is on the stack"))?;
                let made = self.collect(ContainerKind::Tuple, from)?;
                self.push(made)
            }
            op::APPEND => {
                let from = self.stack.len().saturating_sub(1);
                self.append(self.owner(from, ContainerKind::List)?, from)
            }
            op::APPENDS | op::ADDITEMS => {
                let from = self.mark()?;
                let shape = if code == op::APPENDS { ContainerKind::List } else { ContainerKind::Set };
                self.append(self.owner(from, shape)?, from)
            }
            op::SETITEM | op::SETITEMS => {
                let from = if code == op::SETITEMS { self.mark()? } else { self.stack.len().saturating_sub(2) };
                let owner = self.owner(from, ContainerKind::Dict)?;
                self.pairs(from)?;
                self.append(owner, from)
            }
            op::REDUCE => self.reduce(),
            op::BUILD => self.build(),
            op::NEWOBJ => self.new_object(),
            op::STACK_GLOBAL => {
                let (name, module) = (self.pop()?, self.pop()?);
                let made = self.global(self.short_text(module)?, self.short_text(name)?, name)?;
                self.push(made)
            }
            // A mark on top is taken away like a value.
            op::POP if self.marks.last().is_some_and(|mark| *mark as usize == self.stack.len()) => {
                self.mark().map(drop)
            }
            op::POP => self.pop().map(drop),
            op::POP_MARK => {
                let from = self.mark()?;
                self.stack.truncate(from);
                Ok(())
            }
            op::DUP => {
                let cell = self.top()?;
                self.push(cell)
            }
            other => {
                let name = op::refused(other).unwrap_or("which Python does not have");
                let what = format!("the opcode {other:#04x} ({name})");
                Err(self.here().error(ErrorKind::Unsupported { what: what.into() }))
            }
        }
    }

    fn push_empty(&mut self, shape: ContainerKind) -> Result<()> {
        let made = self.container(shape, 0, 0)?;
        self.push(made)
    }

    /// Pushes a container of the values since the last mark.
    fn push_marked(&mut self, shape: ContainerKind) -> Result<()> {
        let from = self.mark()?;
        if shape == ContainerKind::Dict {
            self.pairs(from)?;
        }
        let made = self.collect(shape, from)?;
        self.push(made)
    }

    /// The text in `cell`, one of two that name a global.
    fn short_text(&self, cell: u32) -> Result<&'a [u8]> {
        let at = self.view.at(cell as usize);
        match self.view.data().get(cell as usize).copied() {
            Some(op::SHORT_BINUNICODE) => sized::<1>(at.skip(1)),
            Some(op::BINUNICODE) => sized::<4>(at.skip(1)),
            _ => Err(self.damaged("a global is named by two texts")),
        }
    }

    /// Moves the cells of scattered containers together, after all others.
    fn gather(mut self) -> Result<(Vec<le::U32>, Vec<Container>)> {
        // Not needed any more, and larger than what comes.
        self.stack = Vec::new();
        self.memo = Vec::new();
        if self.stretches.is_empty() {
            return Ok((self.cells, self.containers));
        }
        let mut next = self.cells.len();
        // Where the next cell of a scattered container goes: the last one of its stretches tells when all are moved.
        for container in self.containers.iter_mut().filter(|container| container.is_scattered()) {
            container.start = u32::try_from(next).expect("at most two cells for each byte of the pickle");
            next = next.saturating_add(container.len() as usize);
        }
        let more = next.saturating_sub(self.cells.len());
        let here = self.here();
        if self.cells.try_reserve_exact(more).is_err() {
            let (value, limit) = (next as u64, u32::MAX.into());
            return Err(here.error(ErrorKind::Limit { what: "values", value, limit }));
        }
        self.cells.resize(next, le::U32::ZERO);
        for Stretch { owner, start, len } in self.stretches {
            let Some(container) = self.containers.get_mut(owner as usize) else { continue };
            let (from, to) = (start as usize, container.start as usize);
            let end = from.saturating_add(len as usize);
            if end <= self.cells.len() && to.saturating_add(len as usize) <= self.cells.len() {
                self.cells.copy_within(from..end, to);
            }
            container.start = container.start.saturating_add(len);
        }
        for container in self.containers.iter_mut().filter(|container| container.is_scattered()) {
            container.gather(container.start.saturating_sub(container.len()));
        }
        Ok((self.cells, self.containers))
    }
}

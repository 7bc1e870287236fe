//! Meshes out of few numbers: prisms with bevels, tubes along lines, and skins over grids of points.
//!
//! Everything is in metres, y is up, and corners turn left around the normals, as in files of the game.
//! Only sums, products, quotients and square roots are used, which are the same on every platform.

use crate::geometry::Vertex;
use std::collections::HashMap;

pub type Point = [f32; 3];

/// Metres of a unit of the game.
pub const UNIT: f32 = 15.0;

/// A mesh, in metres.
#[derive(Debug, Default, Clone)]
pub struct Mesh {
    pub vertices: Vec<Vertex>,
    pub indices: Vec<u32>,
}

/// An upright prism: from its plan at the bottom to the scaled and moved plan at the top.
#[derive(Debug, Clone, Copy)]
pub struct Prism<'a> {
    /// Corners of the plan as x and z around the middle; they turn from x to z.
    pub plan: &'a [[f32; 2]],
    /// The middle of the bottom.
    pub at: Point,
    /// The factors of the plan, and the height.
    pub size: Point,
    /// The scale of the plan at the top.
    pub taper: f32,
    /// How far the top is moved along z.
    pub lean: f32,
    /// The width of the bevel around the top.
    pub bevel: f32,
}

pub fn add(a: Point, b: Point) -> Point {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub fn scale(a: Point, by: f32) -> Point {
    a.map(|c| c * by)
}

pub fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn dot(a: Point, b: Point) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn unit(v: Point) -> Point {
    scale(v, 1.0 / dot(v, v).sqrt().max(1e-12))
}

/// Points of a circle of radius 1, from x to z: `count` is 4, 6, or one of these doubled any number of times.
pub fn circle(count: usize) -> Vec<[f32; 2]> {
    let (mut sides, mut cos) = if count.is_multiple_of(3) { (6, 0.5f64) } else { (4, 0.0) };
    while sides < count {
        cos = ((1.0 + cos) / 2.0).sqrt();
        sides *= 2;
    }
    let sin = (1.0 - cos * cos).sqrt();
    let steps =
        std::iter::successors(Some([1.0, 0.0]), |[x, z]: &[f64; 2]| Some([x * cos - z * sin, x * sin + z * cos]));
    steps.take(count).map(|point| point.map(|c| c as f32)).collect()
}

/// The normal of a convex polygon.
pub fn normal(corners: &[Point]) -> Point {
    let sides = corners.windows(2).skip(1).map(|pair| cross(sub(pair[0], corners[0]), sub(pair[1], corners[0])));
    unit(sides.fold([0.0; 3], add))
}

impl Mesh {
    /// Adds a convex polygon with a normal at each corner. A texture repeats every `tile` metres.
    pub fn face(&mut self, corners: &[Point], normals: &[Point], tile: f32) {
        let [x, y, z] = normal(corners).map(f32::abs);
        // The axes of the texture: the ones along which the face is widest.
        let [across, down] = if y >= x && y >= z {
            [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
        } else if x >= z {
            [[0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
        } else {
            [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]
        };
        let places: Vec<[f32; 2]> = corners.iter().map(|p| [across, down].map(|axis| dot(*p, axis) / tile)).collect();
        // Whole turns of the texture are left out, as half floats are exact near zero only.
        let turns = [0, 1].map(|axis| places.iter().fold(f32::MAX, |least, uv| least.min(uv[axis])).floor());
        let first = self.vertices.len() as u32;
        for ((position, normal), uv) in corners.iter().zip(normals).zip(places) {
            let tangent = unit(sub(across, scale(*normal, dot(across, *normal))));
            let binormal = unit(sub(down, scale(*normal, dot(down, *normal))));
            let uv = [uv[0] - turns[0], uv[1] - turns[1]];
            let (position, normal) = (*position, *normal);
            self.vertices.push(Vertex { position, normal, uv, tangent, binormal, ..Vertex::default() });
        }
        for last in 2..corners.len() {
            let [a, b, c] = [0, last - 1, last].map(|corner| corners[corner]);
            let doubled = cross(sub(b, a), sub(c, a));
            if dot(doubled, doubled) > 1e-7 {
                self.indices.extend([0, last - 1, last].map(|corner| first + corner as u32));
            }
        }
    }

    /// Adds a convex polygon.
    pub fn flat(&mut self, corners: &[Point], tile: f32) {
        self.face(corners, &vec![normal(corners); corners.len()], tile);
    }

    pub fn prism(&mut self, prism: &Prism<'_>, tile: f32) {
        let Prism { plan, at, size, taper, lean, bevel } = *prism;
        let ring = |y: f32, scale: f32, inset: f32| -> Vec<Point> {
            let lean = lean * y / size[1];
            let wide = [0, 2].map(|axis| (size[axis] * scale - 2.0 * inset).max(0.0));
            plan.iter().map(|[x, z]| add(at, [x * wide[0], y, z * wide[1] + lean])).collect()
        };
        let high = size[1];
        let mut rings = vec![ring(0.0, 1.0, 0.0)];
        if bevel > 0.0 {
            rings.push(ring(high - bevel, 1.0 + (taper - 1.0) * (high - bevel) / high, 0.0));
            rings.push(ring(high, taper, bevel));
        } else {
            rings.push(ring(high, taper, 0.0));
        }
        rings.windows(2).for_each(|pair| self.wall(&pair[0], &pair[1], 0.8, tile));
        let lid: Vec<Point> = rings.last().into_iter().flatten().rev().copied().collect();
        self.flat(&lid, tile);
    }

    /// The wall between two rings of points, smooth where the cosine of its bend is above `smooth`.
    fn wall(&mut self, low: &[Point], high: &[Point], smooth: f32, tile: f32) {
        let count = low.len();
        let sides: Vec<[Point; 4]> =
            (0..count).map(|i| [low[i], high[i], high[(i + 1) % count], low[(i + 1) % count]]).collect();
        let normals: Vec<Point> = sides.iter().map(|side| normal(side)).collect();
        for (i, side) in sides.iter().enumerate() {
            let [before, after] = [(i + count - 1) % count, (i + 1) % count].map(|other| {
                if dot(normals[i], normals[other]) > smooth {
                    unit(add(normals[i], normals[other]))
                } else {
                    normals[i]
                }
            });
            self.face(side, &[before, before, after, after], tile);
        }
    }

    /// Adds a tube along a line, with a radius at each of its points, and lids at both ends.
    pub fn tube(&mut self, line: &[(Point, f32)], sides: usize, tile: f32) {
        let along = unit(sub(line[line.len() - 1].0, line[0].0));
        let aside = if along[1].abs() > 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let first = unit(cross(aside, along));
        let second = cross(first, along);
        let rings = line.iter().map(|(middle, radius)| {
            let points = circle(sides).into_iter();
            points
                .map(|[x, z]| add(*middle, add(scale(first, x * radius), scale(second, z * radius))))
                .collect::<Vec<Point>>()
        });
        let rings: Vec<Vec<Point>> = rings.collect();
        rings.windows(2).for_each(|pair| self.wall(&pair[0], &pair[1], 0.4, tile));
        self.flat(&rings[0], tile);
        self.flat(&rings[rings.len() - 1].iter().rev().copied().collect::<Vec<_>>(), tile);
    }

    /// Adds a smooth skin over rows of points. `uv` gives the place of a point in the texture.
    pub fn skin(&mut self, rows: &[Vec<Point>], uv: impl Fn(Point) -> [f32; 2]) {
        let (count, columns, first) = (rows.len(), rows[0].len(), self.vertices.len() as u32);
        for row in 0..count {
            for column in 0..columns {
                let [up, down] = [(row + 1).min(count - 1), row.saturating_sub(1)].map(|row| rows[row][column]);
                let [right, left] = [(column + 1).min(columns - 1), column.saturating_sub(1)].map(|at| rows[row][at]);
                let (tangent, binormal) = (unit(sub(up, down)), unit(sub(left, right)));
                let position = rows[row][column];
                let normal = unit(cross(sub(right, left), sub(up, down)));
                let uv = uv(position);
                self.vertices.push(Vertex { position, normal, uv, tangent, binormal, ..Vertex::default() });
            }
        }
        for (row, column) in (1..count).flat_map(|row| (1..columns).map(move |column| (row, column))) {
            let at = |row: usize, column: usize| first + (row * columns + column) as u32;
            let corners = [(row - 1, column - 1), (row - 1, column), (row, column), (row, column - 1)];
            let [a, b, c, d] = corners;
            for triangle in [[a, b, c], [a, c, d]] {
                let [p, q, r] = triangle.map(|(row, column)| rows[row][column]);
                let doubled = cross(sub(q, p), sub(r, p));
                if dot(doubled, doubled) > 1e-7 {
                    self.indices.extend(triangle.map(|(row, column)| at(row, column)));
                }
            }
        }
    }

    /// Adds another mesh.
    pub fn join(&mut self, other: &Self) {
        let first = self.vertices.len() as u32;
        self.vertices.extend(&other.vertices);
        self.indices.extend(other.indices.iter().map(|index| first + index));
    }

    /// Changes positions by `place` and directions by `turn`.
    pub fn moved(&self, place: impl Fn(Point) -> Point, turn: impl Fn(Point) -> Point) -> Self {
        let mut moved = self.clone();
        for vertex in &mut moved.vertices {
            vertex.position = place(vertex.position);
            [vertex.normal, vertex.tangent, vertex.binormal] =
                [vertex.normal, vertex.tangent, vertex.binormal].map(&turn);
        }
        moved
    }

    /// The mesh with its port side at starboard. Corners turn left again.
    pub fn mirrored(&self) -> Self {
        let mut mirrored = self.moved(|[x, y, z]| [-x, y, z], |[x, y, z]| [-x, y, z]);
        mirrored.indices.chunks_exact_mut(3).for_each(|corners| corners.swap(1, 2));
        mirrored
    }

    /// The corners of its box, in units of the game.
    pub fn bounds(&self) -> [Point; 2] {
        let mut bounds = [[f32::MAX; 3], [f32::MIN; 3]];
        for (vertex, axis) in self.vertices.iter().flat_map(|vertex| (0..3).map(move |axis| (vertex, axis))) {
            let value = vertex.position[axis] / UNIT;
            bounds[0][axis] = bounds[0][axis].min(value);
            bounds[1][axis] = bounds[1][axis].max(value);
        }
        bounds
    }

    /// The vertices, in units of the game, and the triangles. Equal vertices are one.
    pub fn in_units(&self) -> (Vec<Vertex>, Vec<u32>) {
        let (mut vertices, mut known) = (Vec::new(), HashMap::new());
        let indices = self.indices.iter().map(|index| {
            let vertex = &self.vertices[*index as usize];
            let key = [vertex.position, vertex.normal, vertex.tangent, vertex.binormal].map(|v| v.map(f32::to_bits));
            *known.entry((key, vertex.uv.map(f32::to_bits), vertex.bones)).or_insert_with(|| {
                vertices.push(Vertex { position: scale(vertex.position, 1.0 / UNIT), ..*vertex });
                vertices.len() as u32 - 1
            })
        });
        let indices = indices.collect();
        (vertices, indices)
    }

    /// Its triangles, in units of the game, for plates: corners turn right around the normals there.
    pub fn triangles(&self) -> Vec<[Point; 3]> {
        let at = |index: u32| scale(self.vertices[index as usize].position, 1.0 / UNIT);
        self.indices.chunks_exact(3).map(|corners| [at(corners[0]), at(corners[2]), at(corners[1])]).collect()
    }
}

//! Matrices of nodes: four columns, for column vectors.

/// A matrix whose last row is 0, 0, 0, 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matrix([[f64; 4]; 4]);

fn dot([a, b, c]: [f64; 3], [x, y, z]: [f64; 3]) -> f64 {
    a * x + b * y + c * z
}

fn cross([a, b, c]: [f64; 3], [x, y, z]: [f64; 3]) -> [f64; 3] {
    [b * z - c * y, c * x - a * z, a * y - b * x]
}

fn xyz([x, y, z, _]: [f64; 4]) -> [f64; 3] {
    [x, y, z]
}

impl Matrix {
    pub const fn scale(by: f64) -> Self {
        Self([[by, 0.0, 0.0, 0.0], [0.0, by, 0.0, 0.0], [0.0, 0.0, by, 0.0], [0.0, 0.0, 0.0, 1.0]])
    }

    /// The matrix with these columns.
    pub fn of_columns(columns: [[f32; 4]; 4]) -> Self {
        Self(columns.map(|column| column.map(f64::from)))
    }

    /// The columns, one after another.
    pub fn of_numbers(numbers: &[f32; 16]) -> Self {
        let [a, b, c, d] = numbers.as_chunks::<4>().0 else { return Self::scale(1.0) };
        Self::of_columns([*a, *b, *c, *d])
    }

    #[expect(clippy::cast_possible_truncation, reason = "numbers of glTF are singles")]
    pub fn numbers(&self) -> [f32; 16] {
        let mut numbers = [0.0; 16];
        numbers.iter_mut().zip(self.0.as_flattened()).for_each(|(to, number)| *to = *number as f32 + 0.0);
        numbers
    }

    fn rows(&self) -> [[f64; 3]; 3] {
        let [a, b, c, _] = self.0.map(xyz);
        let ([ax, ay, az], [bx, by, bz], [cx, cy, cz]) = (a, b, c);
        [[ax, bx, cx], [ay, by, cy], [az, bz, cz]]
    }

    /// The vector without the position of the matrix.
    pub fn turned(&self, vector: [f64; 3]) -> [f64; 3] {
        self.rows().map(|row| dot(row, vector))
    }

    /// The place of a point.
    pub fn placed(&self, point: [f64; 3]) -> [f64; 3] {
        let [.., at] = self.0;
        let ([x, y, z], [a, b, c]) = (self.turned(point), xyz(at));
        [x + a, y + b, z + c]
    }

    /// As [`Self::placed`], for the numbers of a file.
    #[expect(clippy::cast_possible_truncation, reason = "numbers of files are singles")]
    pub fn place(&self, point: [f32; 3]) -> [f32; 3] {
        self.placed(point.map(f64::from)).map(|v| v as f32 + 0.0)
    }

    /// As [`Self::turned`], for the numbers of a file, at the length that the vector has.
    #[expect(clippy::cast_possible_truncation, reason = "numbers of files are singles")]
    pub fn turn(&self, vector: [f32; 3]) -> [f32; 3] {
        let (old, new) = (vector.map(f64::from), self.turned(vector.map(f64::from)));
        let (length, of_new) = (dot(old, old).sqrt(), dot(new, new).sqrt());
        let factor = if of_new > 0.0 && (length - of_new).abs() > 1e-9 { length / of_new } else { 1.0 };
        new.map(|v| (v * factor) as f32 + 0.0)
    }

    /// This matrix without a mirror.
    pub fn unmirrored(&self) -> Self {
        let mirror = Self([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]);
        if self.determinant() < 0.0 { self.after(&mirror) } else { *self }
    }

    /// The matrix that applies `first` and then this one.
    pub fn after(&self, first: &Self) -> Self {
        let [a, b, c, at] = first.0.map(xyz);
        let [[ax, ay, az], [bx, by, bz], [cx, cy, cz]] = [a, b, c].map(|column| self.turned(column));
        let [x, y, z] = self.placed(at);
        Self([[ax, ay, az, 0.0], [bx, by, bz, 0.0], [cx, cy, cz, 0.0], [x, y, z, 1.0]])
    }

    /// The matrix that turns vectors by the columns of this one.
    pub fn transposed(&self) -> Self {
        let [[a, b, c], [d, e, f], [g, h, i]] = self.rows();
        Self([[a, b, c, 0.0], [d, e, f, 0.0], [g, h, i, 0.0], [0.0, 0.0, 0.0, 1.0]])
    }

    pub fn determinant(&self) -> f64 {
        let [a, b, c, _] = self.0.map(xyz);
        dot(a, cross(b, c))
    }

    /// The inverse matrix; `None` if this one flattens or holds numbers that are not finite.
    pub fn inverse(&self) -> Option<Self> {
        let ([a, b, c, at], determinant) = (self.0.map(xyz), self.determinant());
        let size = [a, b, c].map(|column| dot(column, column).sqrt());
        let [x, y, z] = size;
        if !at.iter().chain(&size).all(|v| v.is_finite()) || determinant.abs() <= x * y * z * 1e-9 || determinant == 0.0
        {
            return None;
        }
        let rows = [cross(b, c), cross(c, a), cross(a, b)].map(|row| row.map(|v| v / determinant));
        let [[ax, bx, cx], [ay, by, cy], [az, bz, cz]] = rows;
        let [x, y, z] = rows.map(|row| -dot(row, at));
        Some(Self([[ax, ay, az, 0.0], [bx, by, bz, 0.0], [cx, cy, cz, 0.0], [x, y, z, 1.0]]))
    }

    /// Whether both are equal, within what other programs round.
    pub fn is_near(&self, other: &Self) -> bool {
        /// The part of a length by which matrices that were taken apart and put together again differ at most.
        const ROUNDED: f64 = 2e-5;
        let ([.., at], [.., other_at]) = (self.0, other.0);
        let numbers = [self, other].into_iter().flat_map(|matrix| matrix.0.iter().take(3).flatten());
        let limit = ROUNDED * numbers.fold(0.0f64, |most, number| most.max(number.abs()));
        let near = |a: &[f64], b: &[f64], limit: f64| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= limit);
        let most = at.iter().chain(&other_at).fold(1.0f64, |most, v| most.max(v.abs()));
        let columns = self.0.iter().zip(&other.0).take(3);
        columns.into_iter().all(|(a, b)| near(a, b, limit)) && near(&at, &other_at, ROUNDED * 0.5 * most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_takes_a_matrix_back() {
        let matrix = Matrix::of_columns([
            [0.0, 2.0, 0.0, 0.0],
            [-2.0, 0.0, 0.5, 0.0],
            [0.0, 0.0, 3.0, 0.0],
            [1.0, 2.0, 3.0, 1.0],
        ]);
        let back = matrix.inverse().unwrap();
        assert!(matrix.after(&back).is_near(&Matrix::scale(1.0)) && back.after(&matrix).is_near(&Matrix::scale(1.0)));
        assert_eq!(matrix.placed([1.0, 0.0, 0.0]), [1.0, 4.0, 3.0]);
        let flat = Matrix::of_columns([
            [1.0, 0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 3.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
        ]);
        assert_eq!(flat.inverse(), None);
        assert_eq!(Matrix::scale(0.0).inverse(), None);
        assert!(!matrix.is_near(&back));
    }
}

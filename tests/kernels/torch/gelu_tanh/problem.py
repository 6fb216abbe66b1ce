import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 10
dim = 1000


class Model(nn.Module):
    def forward(self, x):
        return F.gelu(x, approximate='tanh')


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
